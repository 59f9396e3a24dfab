package injection

// rule is one trait of instruction-shaped text. It holds if words for all its concepts
// occur near each other, in any order, since word order differs between languages.
type rule struct {
	kind   string
	needs  []concept
	within int // distance in words from the first to the last of them
	points float64
}

const (
	silences  = "asks for silence"
	decides   = "states a verdict"
	overrides = "overrides the rules"
	recasts   = "gives the reviewer a role"
	acts      = "asks for an action"
	addresses = "addresses the reviewer"
	forges    = "forged structure"
	encoded   = "encoded instructions"
)

// effects lists what a text may want. Points are like log odds and add up, each rule once
// per sentence.
var effects = []rule{
	{silences, []concept{not, report}, 6, 2},
	{silences, []concept{report, empty}, 4, 0.8},
	{silences, []concept{not, report, target}, 7, 0.7},
	{silences, []concept{skip, findings}, 5, 1},
	{silences, []concept{skip, target}, 5, 1.2},
	{silences, []concept{skip, inspect}, 4, 1},
	{silences, []concept{not, inspect}, 4, 1.2},
	{silences, []concept{not, say, person}, 6, 1.5},
	{decides, []concept{say, empty}, 5, 0.7},
	{decides, []concept{empty, findings}, 4, 0.8},
	{decides, []concept{not, findings}, 5, 0.7},
	{decides, []concept{say, not, findings}, 7, 1},
	{decides, []concept{say, jsonForm}, 5, 0.7},
	{decides, []concept{say, clean}, 6, 1.2},
	{decides, []concept{clean, target}, 6, 1},
	{decides, []concept{clean, all}, 4, 0.7},
	{decides, []concept{verdict, clean}, 4, 1},
	{decides, []concept{verdict, skip}, 5, 1},
	{decides, []concept{say, answer}, 6, 0.7},
	{decides, []concept{already, clean}, 4, 1},
	{decides, []concept{already, inspect}, 4, 0.8},
	{decides, []concept{always}, 1, 0.5},
	{acts, []concept{send, answer}, 9, 1.8},
	{acts, []concept{send, addr}, 8, 1.5},
	{acts, []concept{send, secret}, 8, 1.5},
	{acts, []concept{call, addr}, 8, 1},
	{acts, []concept{call, tool}, 6, 0.8},
}

// plain lists effects that need no addressee: only a model has instructions to forget, a
// prompt to print or turns to forge.
var plain = []rule{
	{silences, []concept{not, report, clean}, 12, 0.8},
	{overrides, []concept{skip, rules}, 6, 0.6},
	{overrides, []concept{skip, rules, prior}, 7, 1.5},
	{overrides, []concept{skip, rules, you}, 7, 1.5},
	{overrides, []concept{skip, rules, all}, 7, 0.7},
	{recasts, []concept{role}, 1, 1.5},
	{recasts, []concept{role, you}, 4, 0.6},
	{acts, []concept{say, leak}, 8, 2},
	{acts, []concept{leak, you}, 2, 0.7},
	{acts, []concept{leak, prior}, 3, 1},
	{acts, []concept{modal, call, tool}, 6, 1},
	{decides, []concept{deem, clean}, 9, 1},
	{decides, []concept{deem, target}, 4, 1},
	{forges, []concept{turn}, 1, 1},
	{forges, []concept{turn, turn}, 20, 0.6},
	{forges, []concept{fence}, 1, 1},
	{addresses, []concept{urge}, 1, 0.5},
	{addresses, []concept{authority}, 1, 0.5},
	{addresses, []concept{modal}, 1, 0.4},
}

// tempering lists signs that a text is about models, not addressed to one.
var tempering = []rule{
	{addresses, []concept{cond}, 1, -0.5},
	{addresses, []concept{person}, 1, -0.5},
	{addresses, []concept{story}, 1, -1.5},
}

// spoken lists words that mean little alone, but much right after a model's name.
var spoken = []rule{
	{silences, []concept{skip}, 1, 0.8},
	{decides, []concept{clean}, 1, 0.8},
	{silences, []concept{report}, 1, 0.4},
	{decides, []concept{say}, 1, 0.4},
	{acts, []concept{call}, 1, 0.4},
	{acts, []concept{send}, 1, 0.4},
	{decides, []concept{already}, 1, 0.4},
	{decides, []concept{target}, 1, 0.4},
}

// holds reports whether a rule holds in a sentence, and at which token.
func (r rule) holds(s []token, present set) (at int, ok bool) {
	for _, c := range r.needs {
		if !present.has(c) {
			return 0, false
		}
	}
	for i := range s {
		if s[i].means.has(r.needs[0]) && near(s, i, i, r.needs[1:], r.within) {
			return i, true
		}
	}
	return 0, false
}

// near reports whether words for the needs occur around from..to, all within the given
// distance. No word serves two consecutive needs.
func near(s []token, from, to int, needs []concept, within int) bool {
	if len(needs) == 0 {
		return true
	}
	for i := max(0, to-within); i < min(len(s), from+within+1); i++ {
		if !s[i].means.has(needs[0]) || i == from || i == to || s[max(to, i)].pos-s[min(from, i)].pos > within {
			continue
		}
		if near(s, min(from, i), max(to, i), needs[1:], within) {
			return true
		}
	}
	return false
}
