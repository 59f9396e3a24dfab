package githubtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// archiveLife is how long the address of an archive holds.
const archiveLife = 5 * time.Minute

// getArchive redirects to the storage whatever the ref is, as GitHub does: of one
// that it does not know, the storage says so.
func getArchive(c *call) answer {
	ref := c.PathValue("ref")
	path := fmt.Sprintf("/archives/%s/%s.tar.gz", c.repo.FullName(), ref)
	if at := c.repo.resolve(ref); at != nil {
		folder := fmt.Sprintf("%s-%s-%s/", c.repo.Owner, c.repo.Name, at.sha[:7])
		c.s.storage[path] = &storedBlob{data: pack(folder, at), kind: "application/x-gzip", committed: true}
	}
	return answer{status: http.StatusFound, header: http.Header{"Location": {c.s.sign(path, "r", archiveLife)}}}
}

// pack makes the archive that git makes of a commit: a note of its id, the folder
// and the files. A file whose text begins with linkTo is a symbolic link.
func pack(folder string, at *commit) []byte {
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	w := tar.NewWriter(compressed)
	write := func(h tar.Header, text string) {
		h.ModTime = at.at
		if h.Typeflag == tar.TypeXGlobalHeader {
			h.ModTime = time.Time{}
		}
		if err := w.WriteHeader(&h); err != nil {
			panic(fmt.Sprintf("githubtest: packing %s: %v", h.Name, err))
		}
		_, _ = w.Write([]byte(text)) // into memory
	}
	write(tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header",
		PAXRecords: map[string]string{"comment": at.sha}}, "")
	bits := map[string]int64{plainMode: 0o664, "100755": 0o775}
	write(tar.Header{Typeflag: tar.TypeDir, Name: folder, Mode: 0o775}, "")
	for _, path := range slices.Sorted(maps.Keys(at.tree)) {
		text := at.tree[path]
		if target, link := strings.CutPrefix(text, linkTo); link {
			write(tar.Header{Typeflag: tar.TypeSymlink, Name: folder + path, Linkname: target, Mode: 0o777}, "")
			continue
		}
		write(tar.Header{Typeflag: tar.TypeReg, Name: folder + path, Mode: bits[at.mode(path)], Size: int64(len(text))},
			text)
	}
	_, _ = w.Close(), compressed.Close()
	return packed.Bytes()
}

// linkTo marks a file of a Tree that is a symbolic link in archives.
const linkTo = "\x00link to "

// Link is the content of a file of a Tree that is a symbolic link.
func Link(target string) string { return linkTo + target }
