"""What was measured: taken, recorded, read."""
