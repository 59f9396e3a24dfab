eval "$(ssh-agent -s)"
# eval "$1"
eval $(docker-machine env $1)
eval "$(docker-machine env "$1")"
