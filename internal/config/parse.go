package config

import (
	"cmp"
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Parse reads a settings file with nothing below it; name is what errors call it.
func Parse(name string, text []byte) (Config, error) { return File{Path: name}.Parse(text) }

// Parse reads the text of the file. Every mistake is reported up to maxProblems, each as
// an *Error, joined in the file's order; those of the defaults alone where there are
// some. An empty text is the defaults, and so is nil, for a file that is not there: where
// somebody named it, Overruled says so.
func (f File) Parse(text []byte) (Config, error) {
	c, _, err := f.Read(text)
	if err == nil && text == nil && f.Path != DefaultPath && f.Path != "" {
		c.Overruled = append(c.Overruled, f.Path+" is not in the repository at the base, so it sets nothing")
	}
	return c, err
}

// Read is Parse, and says where each key stood.
func (f File) Read(text []byte) (Config, Lines, error) {
	c, lines := Default(), Lines{}
	halves := map[string]half{}
	below := &reader{file: "defaults", lines: lines, halves: halves}
	known := append(rootKeys(&c), key{name: "locked", read: func(r *reader, n ast.Node) { c.Locked = r.lockable(n) }})
	if err := cmp.Or(below.read([]byte(f.Defaults), known), errors.Join(below.all()...)); err != nil {
		return Config{}, nil, err
	}
	r := &reader{file: f.Path, lines: lines, halves: halves, defaults: c}
	err := r.read(text, rootKeys(&c))
	r.checkHalves(&c)
	if err := cmp.Or(err, errors.Join(append(below.all(), r.all()...)...)); err != nil {
		return Config{}, nil, err
	}
	c.Overruled = r.overruled
	c, err = f.Over(c)
	return c, lines, err
}

// read reads a text by the keys that it may hold. Its mistakes are all's; an error ended it.
func (r *reader) read(text []byte, known keys) (err error) {
	text, err = readable(r.file, text)
	if err != nil {
		return err
	}
	// The parser works on text from the repository; a defect in it is the file's error, not the run's end.
	defer func() {
		if p := recover(); p != nil {
			err = &Error{File: r.file, Line: 1, Column: 1, What: "this is not YAML that can be read"}
		}
	}()
	// entries finds them, with all other mistakes
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return syntaxError(r.file, err)
	}
	for i, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if i > 0 {
			r.fail(doc.Body, "a second document; one is read")
			break
		}
		r.mapping(doc.Body, known)
	}
	return nil
}

func rootKeys(c *Config) keys {
	return keys{
		listed("ignore", &c.Ignore, wrongGlob), whole("max-lines", 1, mostLines, &c.MaxLines, DefaultMaxLines),
		group("admission", admissionKeys(&c.Admission)),
		group("models", modelKeys(&c.Models)), unless("verify", &c.NoVerify), unless("classify", &c.NoClassify),
		group("agent", agentKeys(&c.Agent)), group("model-options", optionKeys(&c.ModelOptions)),
		pricesKey(&c.Prices),
		endpoint("embeddings", &c.Embeddings.Model, embeddingKeys(&c.Embeddings)),
		endpoint("rerank", &c.Rerank.Model, rerankKeys(&c.Rerank)), group("index", indexKeys(&c.Index)),
		limit("max-cost", &c.MaxCost, &c.Cap).by("max-cost", "review, resume, implement, eval findings",
			"what the run may cost in USD, retries included"),
		limit("max-cost-per-pull", &c.MaxCostPerPull, &c.CapPerPull).by("max-cost-per-pull", "review, resume",
			"what all runs on one pull request may cost in USD"),
		amount("max-cost-per-file", &c.MaxCostPerFile),
		languageKey(&c.Language), evenEmpty(listed("instructions", &c.Instructions, wrongPath), &c.Instructions),
		objects("guidelines", &c.Guidelines, guidelineKeys, checkGuideline),
		overviewKey(&c.Overview), group("report", reportKeys(&c.Report)),
		group("comments", commentKeys(&c.Comments)), choice("handover", &c.Handover, HandoverSummary, Handovers()...),
		group("linters", linterKeys(&c.Linters)),
		objects("environments", &c.Environments, environmentKeys, checkEnvironment),
		listed("deciders", &c.Deciders, wrongLogin),
		objects("modules", &c.Modules, moduleKeys, checkModules()),
		listed("protected", &c.Protected, wrongGlob), group("implement", implementKeys(&c.Implement)),
		group("context", contextKeys(&c.Context)),
	}
}

func admissionKeys(a *Admission) keys {
	return keys{
		choice("drafts", &a.Drafts, "", Skip, Review), choice("bots", &a.Bots, "", Skip, Review),
		authorsKey(&a.Authors), text("label", &a.Label),
		text("skip-label", &a.SkipLabel), flag("on-demand", &a.OnDemand),
	}
}

// authorsKey is a list of associations in whatever case, or one of them.
func authorsKey(into *[]string) key {
	k := listed("authors", into, free)
	k.read = func(r *reader, n ast.Node) {
		if _, one := n.(*ast.StringNode); one {
			n = &ast.SequenceNode{Values: []ast.Node{n}}
		}
		known := r.among(Associations())
		*into = r.texts(n, func(item ast.Node, name string) bool { return known(item, strings.ToLower(name)) })
		for i, name := range *into {
			(*into)[i] = strings.ToLower(name)
		}
	}
	return k
}

// syntaxError turns the parser's error into ours, with its place.
func syntaxError(name string, err error) error {
	e := &Error{File: name, Line: 1, Column: 1, What: "this is not valid YAML"}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		e.What += ": " + strings.Replace(syntax.Message, "character '\t' that cannot start any token",
			"a tab, and only spaces indent", 1)
		if syntax.Token != nil && syntax.Token.Position != nil {
			e.Line, e.Column = syntax.Token.Position.Line, syntax.Token.Position.Column
		}
	}
	return e
}
