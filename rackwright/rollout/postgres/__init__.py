"""The databases' way: a streaming copy, a cut-over in which writes pause, and the same way back."""
