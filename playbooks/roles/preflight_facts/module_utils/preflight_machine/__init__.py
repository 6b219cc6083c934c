"""What a machine is asked before anything is done to it; runs there, with Python 3.9 and its standard library alone."""
