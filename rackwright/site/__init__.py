"""What a site is meant to be: typed settings, the catalog of pins, and the rules that both must keep."""
