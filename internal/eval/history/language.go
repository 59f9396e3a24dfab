package history

import (
	"cmp"
	"path"
	"strings"
)

// languages are the names of languages in files of cases, by extension.
var languages = map[string]string{
	".go": "go", ".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".py": "python", ".pyi": "python",
	".ts": "typescript", ".tsx": "typescript", ".mts": "typescript", ".cts": "typescript",
	".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
	".rs": "rust", ".rb": "ruby", ".cs": "csharp", ".php": "php", ".swift": "swift",
	".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp",
	".sh": "shell", ".bash": "shell", ".sql": "sql", ".css": "css", ".scss": "scss", ".html": "html",
	".yml": "yaml", ".yaml": "yaml", ".md": "markdown",
}

// language names a file's language; other where the extension says none.
func language(file string) string {
	return cmp.Or(languages[strings.ToLower(path.Ext(file))], "other")
}
