package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"
)

// textOf reads a text from a file of the folder, or says why it cannot be read. Key
// is what names the file.
func textOf(folder fs.FS, key, name string, limit int64) (text, reason string) {
	name = path.Clean(name)
	if !fs.ValidPath(name) || strings.Contains(name, `\`) {
		return "", key + " is no path within the folder of the file of cases"
	}
	content, err := readText(folder, name, limit)
	switch {
	case err != nil:
		return "", fmt.Sprintf("%s %.200q cannot be read: %s", key, name, cause(err))
	case len(content) == 0:
		return "", fmt.Sprintf("%s %.200q is empty", key, name)
	case !utf8.Valid(content):
		return "", fmt.Sprintf("%s %.200q is not UTF-8", key, name)
	}
	return string(content), ""
}

func readText(folder fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(folder, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, errors.New("it is no regular file")
	}
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded(f, limit)
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded(f, MaxFile)
}

func bounded(r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it is larger than %d bytes", limit)
	}
	return text, err
}

// cause is an error without the path, which the problem names already.
func cause(err error) string {
	if in, ok := errors.AsType[*fs.PathError](err); ok {
		err = in.Err
	}
	return err.Error()
}
