#!/bin/sh
X=1
# doc
f() {
 echo
}
function g { echo; }
