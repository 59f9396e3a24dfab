eval "$1" #~ major
