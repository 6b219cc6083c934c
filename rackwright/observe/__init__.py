"""What a running site shows: figures, thresholds, triggers, and the rules and dashboards that follow from them."""
