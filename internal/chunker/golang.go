package chunker

import (
	"go/ast"
	"go/parser"
	"go/token"

	"github.com/org/pr-review-action/internal/chunk"
)

// golang cuts Go with the standard library's parser, which is a hundred times faster than
// the other one. A file with errors is cut at the declarations that were parsed.
func (c *cutter) golang() (fallback string) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", c.text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil || err != nil && len(file.Decls) == 0 {
		return Unparsable
	}
	g := goFile{c, set.File(file.FileStart)}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			g.addFunction(d)
		case *ast.GenDecl:
			g.addDeclaration(d)
		}
	}
	c.addGap(c.count(), owner{})
	return ""
}

type goFile struct {
	*cutter
	file *token.File
}

func (g goFile) line(p token.Pos) int { return g.file.PositionFor(p, false).Line }

func (g goFile) addFunction(d *ast.FuncDecl) {
	end := d.End()
	if d.Body != nil {
		end = d.Body.Lbrace
	}
	p := chunk.Chunk{Kind: chunk.Function, Name: d.Name.Name, Defines: []string{d.Name.Name}}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		p.Kind = chunk.Method
		for n := range ast.Preorder(d.Recv.List[0].Type) { // also of *T, T[K], or what no compiler takes
			if id, ok := n.(*ast.Ident); ok {
				p.Scope = id.Name
				break
			}
		}
	}
	g.add(p, d, end, d.Doc)
}

// addDeclaration makes a chunk of a type declaration, or of one of constants or variables with at
// least four lines. The names in shorter ones go to the chunk around them.
func (g goFile) addDeclaration(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			g.found = append(g.found, site{g.line(s.Pos()), s.Name.Name})
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.Name != "_" {
					g.found = append(g.found, site{g.line(name.Pos()), name.Name})
				}
			}
		}
	}
	switch d.Tok {
	case token.TYPE:
		g.add(chunk.Chunk{Kind: chunk.Type}, d, d.End(), d.Doc)
	case token.CONST, token.VAR:
		g.add(chunk.Chunk{Kind: chunk.Constants}, d, d.End(), d.Doc)
	}
}

// add makes chunks of a declaration's lines, with its comment, and of the unused lines before it. Its signature goes up
// to end.
func (g goFile) add(p chunk.Chunk, d ast.Decl, end token.Pos, comment *ast.CommentGroup) {
	p.Signature = g.about(g.file.Offset(d.Pos()), g.file.Offset(end))
	p.Doc = doc("", comment.Text())
	from, to := g.line(d.Pos()), min(g.line(d.End()), g.count())
	if comment != nil {
		from = g.line(comment.Pos())
	}
	from = max(from, g.next)
	switch {
	case p.Kind == chunk.Constants && to-from < 3:
	case !g.startDefinition(from, to, owner{}, p.Defines...):
	case to-from < maxLines:
		g.cutter.add(p, from, to)
	default:
		g.addGap(to, owner{piece: &p, scope: join(p.Scope, p.Name)})
	}
}
