package retrieve

import (
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
)

// synonymWeight is what a synonym counts for beside the word that was asked.
const synonymWeight = 0.4

// synonyms are words of programming that stand for one another: who asks says
// "shut down" where the code says Close. One group a line; a word may be in several.
const synonyms = `
close end stop terminate shutdown finish
open start begin launch spawn execute run exec
delete remove drop erase clear purge
create make new build generate construct init
add append insert push put register
find search lookup seek locate
get fetch load read retrieve
set write store save put
check verify validate ensure assert
parse decode read unmarshal
print format render encode write marshal
error fail failure err fault
wait block sleep timeout delay
limit max maximum cap bound
min minimum least
number count amount
list array slice
map dict table hash
message msg text string
function func callback handler fn
change modify update edit
copy clone duplicate
compare equal less cmp
merge join combine concat fold
split cut divide chunk
retry again repeat
send transmit write emit publish dispatch
receive accept recv
client peer remote
connection conn socket
request req
response resp reply answer
argument arg param parameter
option flag opt setting config
environment env
directory folder dir
path file
user person
password passphrase secret
key identifier id
lock mutex guard
concurrent parallel simultaneous
cancel abort
ignore skip
reject refuse deny forbid disallow invalid
allow permit accept
wrap decorate
default fallback
first initial head
last final tail
previous prior before old
next following after
size length len width
temporary temp tmp
buffer buf
pointer ptr ref reference
index idx position offset
increase increment grow rise raise
decrease decrement shrink reduce
empty blank zero nil null
nested inner sub child
parent outer
typo misspell similar suggest propose
warn warning deprecate
extract strip trim remove
transaction tx txn
database db
thread goroutine worker
command cmd
process proc
header meta
token tok
character char rune
column width
line row
join attach
leave exit quit
leader master
follower replica slave
snapshot backup
vote election candidate
route path url endpoint
middleware handler interceptor
cookie session
stream pipe
subscribe listen observe
unsubscribe detach
emit trigger fire notify
pause suspend
resume continue
`

// synonymsOf has, for a token, the tokens of its groups.
var synonymsOf = func() map[string][]string {
	of := map[string][]string{}
	for group := range strings.Lines(synonyms) {
		words := chunk.Tokens(group)
		for i, word := range words {
			of[word] = append(append(of[word], words[:i]...), words[i+1:]...)
		}
	}
	return of
}()

// addSynonyms adds what stands for a term's token.
func addSynonyms(t *index.Term) {
	seen := map[string]bool{t.Tokens[0]: true}
	for _, word := range synonymsOf[t.Tokens[0]] {
		if !seen[word] {
			seen[word] = true
			t.Tokens, t.Weights = append(t.Tokens, word), append(t.Weights, synonymWeight)
		}
	}
}
