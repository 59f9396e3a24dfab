complete -c pr-review-action \
  -a '(pr-review-action completion words -- (commandline -opc)[2..-1] (commandline -ct))'
