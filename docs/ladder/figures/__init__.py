"""What is drawn of it, and of what the executor traces."""
