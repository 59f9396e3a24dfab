eval "$(ssh-agent -s)"
# eval "$1"
