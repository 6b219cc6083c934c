"""The program itself: the standard library alone, since it runs in a guest from one file."""
