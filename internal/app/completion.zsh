#compdef pr-review-action
_pr-review-action() {
  local -a found
  found=("${(@f)$(pr-review-action completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("${(@)${(@)found:#}//:/\\:}")
  found=("${(@)found/$'\t'/:}")
  (( $#found )) && _describe pr-review-action found || _files
}
if [ "$funcstack[1]" = _pr-review-action ]; then _pr-review-action "$@"
else compdef _pr-review-action pr-review-action; fi
