"""What a change of machines will do, said before it is done, and how it came out."""
