package decision

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/pattern"
)

// refuseNote returns why a line without a leading slash is not accepted as a note: a note
// changes nothing, and this line may be meant to.
func refuseNote(line string) []string {
	text := fold(line)
	bare := marks().ReplaceAllString(text, "")
	first, _ := cutWord(bare)
	switch {
	case verbAfterMarks().MatchString(bare) || verbInside().MatchString(addresses().ReplaceAllString(text, " ")):
		return []string{"a command stands at the start of its line, with a slash"}
	case len(findIDs(line)) > 0:
		return []string{"names a finding, but is not a command"}
	case slices.Contains(refusedOpenings(), strings.Trim(first, `/\.,:;!?'"*_)-`)) || isPlainNo(bare),
		foldWord(bare) != "approve" && isCommand("/"+bare):
		return []string{"could be meant to change the decision, but is not a command"}
	}
	if p := findPhrase(text, Phrases()); p != "" {
		return []string{`says "` + p + `", but is not a command`}
	}
	return nil
}

const verbs = `(?:approve|abort|revise|drop|keep|edit|summary|severity)`

var (
	// leading marks of lists, quotes and code
	marks          = pattern.Lazy(`^(?:[\s>*+•·#|~"'(‐‑–—−_…-]+|\[[ x]?\]|[0-9]{1,3}[.)]\s|[a-z][.)]\s)+`)
	verbAfterMarks = pattern.Lazy(`^[/\\⁄∕⧸╱]` + verbs + `(?:[^\p{L}\p{N}_/.\\-]|[.-](?:\s|$)|f[0-9]|$)`)
	verbInside     = pattern.Lazy(`(?:^|[^a-z0-9/.\-_~\\@#%=&?+$])[/⁄∕⧸╱]` + verbs +
		`(?:[^a-z0-9_/.\-]|[.-](?:\s|$)|f[0-9]|$)`)
	addresses = pattern.Lazy(`(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)[^\s)>\]"']+` +
		`|[a-z0-9._%+-]+@[a-z0-9-]+\.[a-z0-9.-]+|@[a-z0-9-]+`)
	fileName = pattern.Lazy(`\.(?:c|cc|cpp|cs|css|go|h|html|java|js|json|jsx|kt|lua|md|php|py|rb|rs|sh|sql` +
		`|swift|tf|toml|ts|tsx|txt|xml|ya?ml)$`)
	rootedPath = pattern.Lazy(`^(?:\.\.?|~)/[^/]+/`)
	cyrillicID = pattern.Lazy(`ф([0-9])`) // typed on a Russian keyboard
	idForm     = pattern.Lazy(`^f0*([1-9][0-9]{0,5})$`)
)

// refusedOpenings returns the words that no note may begin with.
func refusedOpenings() []string {
	return []string{"drop", "abort", "reject", "revise", "severity", "stop", "wait", "hold"}
}

// isPlainNo reports whether a line says "no" and nothing else.
func isPlainNo(bare string) bool {
	return slices.Contains([]string{"no", "nope", "nein", "non", "não", "nie", "nee", "нет", "ні", "いいえ",
		"だめ", "不", "不行", "否", "아니요", "hayır"}, strings.Trim(bare, ` .,;!?'"*_~。`))
}

// Phrases returns the phrases that no note may contain, wherever they occur: whoever writes
// one of them wants less posted than the draft.
func Phrases() []string { return slices.Concat(nothingPhrases(), fewerPhrases()) }

// fewerPhrases returns the phrases of an approver who wants only some of the draft posted.
func fewerPhrases() []string {
	return []string{"please drop", "please remove", "leave out", "everything except", "all except", "everything but",
		"all but", "only post", "post only", "bitte weglassen"}
}

// nothingPhrases returns the phrases of an approver who wants nothing posted.
func nothingPhrases() []string {
	return []string{
		"do not post", "don't post", "dont post", "do not publish", "don't publish", "do not send", "don't send",
		"do not approve", "don't approve", "not approved", "please reject", "please abort", "please wait",
		"please hold",
		"nicht posten", "nicht veröffentlichen", "nicht freigeben", "nicht absenden", "bitte verwerfen",
		"bitte warten", "bitte abbrechen", "ne pas publier", "ne pas poster", "ne pas envoyer", "ne publie pas",
		"ne publiez pas", "ne poste pas", "ne postez pas", "ne pas approuver",
		"no publicar", "no publiques", "no publique", "no lo publiques", "no enviar", "no envíes", "no aprobar",
		"não publicar", "não publique", "não postar", "não poste", "não enviar", "não envie", "não aprovar",
		"non pubblicare", "non inviare", "non approvare", "niet plaatsen", "niet publiceren", "niet versturen",
		"nie publikuj", "nie publikować", "не публикуй", "не публиковать", "не публикуйте", "не отправляй",
		"не отправлять", "не отправляйте", "не одобряю", "не публікувати", "не публікуй",
		"投稿しないで", "公開しないで", "送信しないで", "投稿しない", "却下", "不要发布",
		"不要發布", "不要发", "不要發", "别发", "別發", "请勿发布", "不要提交",
		"게시하지 마", "올리지 마", "yayınlama",
	}
}

// findPhrase returns the first of some phrases that a folded text contains, or "".
func findPhrase(text string, some []string) string {
	if i := slices.IndexFunc(some, func(p string) bool { return containsPhrase(text, p) }); i >= 0 {
		return some[i]
	}
	return ""
}

// containsPhrase reports whether a folded text contains a phrase at word boundaries. Scripts without
// spaces between words have no boundaries to check.
func containsPhrase(text, phrase string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], phrase)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		after, _ := utf8.DecodeRuneInString(text[at+i+len(phrase):])
		first, _ := utf8.DecodeRuneInString(phrase)
		if unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
			!unicode.IsLetter(before) && !unicode.IsLetter(after) {
			return true
		}
		at += i + len(phrase)
	}
}

// findIDs returns the IDs of findings (F2, in any case) in a text, ignoring web and mail addresses.
func findIDs(text string) (all []string) {
	text = cyrillicID().ReplaceAllString(addresses().ReplaceAllString(fold(text), " "), "f$1")
	between := func(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune(" ,;:()[]{}<>|\"'!?=+&*", r) }
	for _, token := range strings.FieldsFunc(text, between) {
		rooted := rootedPath().MatchString(token)
		if token = strings.Trim(token, "._~#-/"); rooted || isPath(token) {
			continue
		}
		for _, w := range strings.FieldsFunc(token, func(r rune) bool {
			return strings.ContainsRune(`./\-~#@%$^`, r)
		}) {
			if id := idForm().FindStringSubmatch(strings.Trim(w, "_")); id != nil {
				all = append(all, "F"+id[1])
			}
		}
	}
	return all
}

// isPath reports whether a word is a file's path or name. F1/F2 and F1/no are not.
func isPath(token string) bool {
	first, _, folder := strings.Cut(token, "/")
	return folder && !idForm().MatchString(first) && !slices.Contains(refusedOpenings(), first) ||
		fileName().MatchString(token)
}
