package secret

// Grade says how sure a Leak is.
type Grade int

// Guess is good enough to redact and too weak to be told to anybody. Named is a
// value that is a credential by the name it is given to or the place it stands
// in. Issued is a credential in its issuer's own format.
const (
	Guess Grade = iota
	Named
	Issued
)

// Leak is one credential in a text. Start and End are byte offsets of what has
// to go; it may run over several lines.
type Leak struct {
	Kind       string // such as "github-pat": lower-case letters, digits, hyphens
	Grade      Grade
	Name       string // of the variable or setting, untrusted; empty where none was seen
	Start, End int
}

// minKnown is the length in bytes from which a value is looked for: what is
// shorter stands in ordinary text by chance.
const minKnown = 8

// knownKind is the kind of values that the program was given as its own.
const knownKind = "configured-credential"

// keyKind is the kind of private keys in PEM or OpenPGP armour.
const keyKind = "private-key"
