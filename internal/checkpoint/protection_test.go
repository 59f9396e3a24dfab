package checkpoint

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestT38_AKeyThatIsMissingOrShortIsAnError(t *testing.T) {
	t.Parallel()
	text := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("secret! "), 4))
	for want, bad := range map[string][]string{
		"is not set or empty": {"", "   ", "\n\t"},
		"is not base64":       {"hunter2 is no key", text + "!", text[:20] + "=" + text[20:], strings.Repeat("-_", 30)},
		"holds 31 bytes": {base64.StdEncoding.EncodeToString(make([]byte, 31)),
			base64.RawStdEncoding.EncodeToString(make([]byte, 31))},
	} {
		for _, b := range bad {
			k, err := ParseKey(b)
			require.ErrorIs(t, err, ErrKey, b)
			require.ErrorContains(t, err, "checkpoint-key "+want)
			require.ErrorContains(t, err, "openssl rand -base64 32")
			require.NotContains(t, err.Error(), "hunter2")
			for _, trust := range []string{TrustSeal, TrustEncrypt} {
				p := Protection{trust, k}
				require.ErrorIs(t, p.Check(), ErrKey)
				_, err := p.Pack(manifest(), []byte(snapshot), shown())
				require.ErrorIs(t, err, ErrKey)
				_, err = p.open(packed(t).Zip)
				refusal(t, err, 5)
			}
		}
	}
	_, err := ParseKey("SGk=")
	require.ErrorContains(t, err, "holds 2 bytes")
	require.ErrorContains(t, Protection{Trust: "Seal"}.Check(), `trust is "Seal"; it is one of digest, seal, encrypt`)
	require.NoError(t, Protection{}.Check())
}

func TestAKeyIsReadWithAndWithoutPadding(t *testing.T) {
	t.Parallel()
	secret := bytes.Repeat([]byte("k"), 50) // as long as openssl breaks lines
	text := base64.StdEncoding.EncodeToString(secret)
	want, err := ParseKey(text)
	require.NoError(t, err)
	for _, same := range []string{" " + text + "\n", strings.TrimRight(text, "="), text[:64] + "\n" + text[64:]} {
		got, err := ParseKey(same)
		require.NoError(t, err)
		require.Equal(t, want.Derive("x"), got.Derive("x"))
	}
}

func TestAKeyGivesAnotherSecretForEachUse(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range []Key{key(t, "k"), key(t, "l")} {
		for _, label := range []string{manifestLabel, recordLabel, ageLabel, "graph", "results"} {
			require.Len(t, k.Derive(label), 32)
			seen[string(k.Derive(label))] = true
		}
	}
	require.Len(t, seen, 10)
	require.Nil(t, Key{}.Derive("graph"), "no key derives nothing, not the secret of an empty key")
	k := key(t, "k")
	for _, shown := range []string{fmt.Sprintf("%v", k),
		fmt.Sprintf("%+v", struct{ p Protection }{Protection{TrustSeal, k}}), fmt.Sprintf("%#v", k)} {
		require.NotContains(t, shown, "107")
		require.NotContains(t, shown, fmt.Sprint(k.secret[:2])[1:6])
	}
}

// TestCheck5_TheSealIsChecked goes through drafts that a job with a key refuses.
func TestCheck5_T20_TheSealIsChecked(t *testing.T) {
	t.Parallel()
	seal := Protection{TrustSeal, key(t, "k")}
	other := Protection{TrustSeal, key(t, "l")}
	text := string(parts(t, seal.packed(t).Zip)[0].content)
	empty := Protection{TrustSeal, Key{}} // what two jobs without a secret would agree on
	empty.Key.secret = new([32]byte)
	for name, c := range map[string]struct{ manifest, want string }{
		"removed":         {"{" + text[len(sealStart)+64+len(sealEnd):], "carries no seal"},
		"no draft's":      {string(parts(t, packed(t).Zip)[0].content), "carries no seal"},
		"algorithm none":  {strings.Replace(text, sealAlgorithm, "none:", 1), "carries no seal"},
		"other algorithm": {strings.Replace(text, sealAlgorithm, "sha256-hmac:", 1), "carries no seal"},
		"upper case": {strings.Replace(text, text[len(sealStart):len(sealStart)+64],
			strings.ToUpper(text[len(sealStart):len(sealStart)+64]), 1), "or it was changed"},
		"another key":     {string(parts(t, other.packed(t).Zip)[0].content), "or it was changed"},
		"an empty key":    {string(parts(t, empty.packed(t).Zip)[0].content), "or it was changed"},
		"a record's seal": {string(seal.seal(recordLabel, parts(t, packed(t).Zip)[0].content)), "or it was changed"},
		"further back": {"{" + text[len(sealStart)+64+len(sealEnd):len(text)-3] + `,"seal":"` + sealAlgorithm +
			text[len(sealStart):len(sealStart)+64] + `"}`, "carries no seal"},
		"blanks in front":   {" " + text, "carries no seal"},
		"twice":             {text[:len(sealStart)+64+2] + text[1:], "or it was changed"},
		"just its start":    {sealStart, "carries no seal"},
		"nothing behind it": {text[:len(sealStart)+64+len(sealEnd)], "or it was changed"},
		"empty":             {"", "carries no seal"},
		"not even JSON":     {"\xff{", "carries no seal"},
	} {
		entries := parts(t, seal.packed(t).Zip)
		entries[0].content = []byte(c.manifest)
		z, err := packZip(entries...)
		require.NoError(t, err)
		unzipped, err := Unzip(z)
		require.NoError(t, err)
		for _, err := range []error{seal.CheckSeal(unzipped), second(seal.Open(unzipped))} {
			require.ErrorContains(t, refusal(t, err, 5), c.want, name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestCheck5_OneMessageForEveryTamperedCiphertext(t *testing.T) {
	t.Parallel()
	const message = "the key is not the one that sealed the draft, or it was changed"
	p := Protection{TrustEncrypt, key(t, "k")}
	hidden := parts(t, p.packed(t).Zip)[1].content
	foreign := parts(t, Protection{TrustEncrypt, key(t, "l")}.packed(t).Zip)[1].content
	costly := bytes.Replace(hidden, []byte(" 1\n"), []byte(" 22\n"), 1)
	flipped := bytes.Clone(hidden)
	flipped[len(flipped)-1] ^= 1
	for name, content := range map[string][]byte{
		"another key": foreign, "costly": costly, "flipped": flipped, "truncated": hidden[:len(hidden)-1],
		"header alone": hidden[:60],
		"longer":       append(bytes.Clone(hidden), 0), "empty": {}, "in the clear": []byte(snapshot),
	} {
		entries := parts(t, p.packed(t).Zip)
		entries[1].content = content
		z, err := packZip(entries...)
		require.NoError(t, err)
		require.ErrorContains(t, refusal(t, second(p.open(z)), 5), message, name)

		m := p.packed(t).Manifest // and where the manifest vouches for it, age itself refuses
		m.SnapshotSHA256 = Digest(content)
		_, entries[0].content, err = p.sealed(m)
		require.NoError(t, err)
		z, err = packZip(entries...)
		require.NoError(t, err)
		r := refusal(t, second(p.open(z)), 5)
		require.ErrorContains(t, r, message, name)
		require.Equal(t, name == "costly", strings.Contains(r.Error(), "work factor too large"), name)
	}
	require.ErrorContains(t, refusal(t, second(Protection{TrustEncrypt, key(t, "l")}.open(p.packed(t).Zip)), 5),
		message)
}

func TestT28_EncryptHidesTheDraft(t *testing.T) {
	t.Parallel()
	const secret = "an unapproved vulnerability"
	text := []byte(`{"finding":"` + secret + `"}`)
	for _, p := range protections(t) {
		z, err := p.Pack(manifest(), text, Shown{"## " + secret, "+" + secret})
		require.NoError(t, err)
		shown := bytes.Contains(z.Zip, []byte(secret))
		require.Equal(t, p.Trust != TrustEncrypt, shown, p.Trust)
		if p.Trust == TrustEncrypt {
			require.NotContains(t, string(z.Zip), Digest(text), "whoever guesses the draft cannot make sure")
			require.Contains(t, string(z.Zip), `"findings": 3`, "counts stay readable")
		}
	}
}

func TestCheck8_AProtectedDraftInAJobWithoutKey(t *testing.T) {
	t.Parallel()
	for _, p := range protections(t)[1:] {
		want := "made under trust: " + p.Trust + ", this job says digest"
		o, err := Protection{}.open(p.packed(t).Zip)
		if p.Trust == TrustSeal {
			require.NoError(t, err)
			_, err = CheckSettings(o.Manifest, Settings{})
		}
		require.ErrorContains(t, refusal(t, err, 8), want)
	}
	o, err := Protection{TrustSeal, key(t, "k")}.open(protections(t)[2].packed(t).Zip)
	require.NoError(t, err, "who has the key may read it")
	require.Equal(t, snapshot, string(o.Snapshot))
}
