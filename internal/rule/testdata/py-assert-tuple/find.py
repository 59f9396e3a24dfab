assert (total > 0, "total must be positive") #~ major
