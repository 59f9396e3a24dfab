eval "$1" #~ major
eval "$cmd $1" #~ major
eval "export $NAME=$1" #~ major
