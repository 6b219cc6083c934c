"""What to do about a running site: its figures, held against what was reckoned for it."""
