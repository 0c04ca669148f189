"""Pages, facts, records and figures: what keeps every sentence true."""
