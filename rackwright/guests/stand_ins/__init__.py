"""Programs that play, in a guest, what cannot be had there: each says that it is a stand-in, in all that it prints."""
