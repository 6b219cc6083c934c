"""The plan as one page of HTML that needs nothing else: to read, to print and to send."""
