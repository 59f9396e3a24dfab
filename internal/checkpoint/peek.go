package checkpoint

import "fmt"

// Manifest reads what a draft says of itself, whether or not there is a key. Who
// wrote it is not known: it is for showing, and for choosing how to Open.
func (z Zip) Manifest() (Manifest, error) {
	m, err := decodeManifest(z.parts[0])
	if err != nil {
		return Manifest{}, damaged(fmt.Errorf("reading manifest: %w", err))
	}
	return m, nil
}
