package lang

// table contains a row for each language.
var table = []Language{
	{Name: "go", extensions: ".go", notCode: goText, defines: goForms},
	{Name: "javascript", extensions: ".js .jsx .mjs .cjs", words: "javascript js jsx", notCode: scriptText,
		defines: scriptForms},
	{Name: "typescript", Like: "javascript", extensions: ".ts .tsx .mts .cts", words: "typescript ts tsx",
		notCode: scriptText, defines: scriptForms},
	{Name: "vue", Like: "javascript", extensions: ".vue", notCode: scriptText, defines: scriptForms},
	{Name: "svelte", Like: "javascript", extensions: ".svelte", words: noWord, notCode: scriptText,
		defines: scriptForms},
	{Name: "python", extensions: ".py .pyi", words: "python py", notCode: pythonText, defines: pythonForms},
	{Name: "ruby", extensions: ".rb .rake", words: "ruby rb", notCode: hashText, defines: rubyForms},
	{Name: "elixir", extensions: ".ex .exs", notCode: pythonText,
		defines: formsOf("defp?|defmacrop?|defmodule|defdelegate")},
	{Name: "php", extensions: ".php", notCode: phpText,
		defines: formsOf("function|class|interface|trait|enum|const")},

	{Name: "java", extensions: ".java", notCode: slashText, defines: classForms},
	{Name: "kotlin", extensions: ".kt .kts", words: "kotlin kt", notCode: slashText, defines: classForms},
	{Name: "scala", extensions: ".scala .sbt", notCode: slashText, defines: classForms},
	{Name: "csharp", extensions: ".cs", words: "csharp cs", notCode: slashText, defines: classForms},
	{Name: "swift", extensions: ".swift", notCode: slashText, defines: classForms},
	{Name: "groovy", extensions: ".groovy", notCode: scriptText, defines: classForms},
	{Name: "dart", extensions: ".dart", notCode: scriptText, defines: classForms},

	{Name: "c", extensions: ".c .h", notCode: slashText, defines: cForms},
	{Name: "cpp", Like: "c", extensions: ".cc .cpp .cxx .hh .hpp .hxx", words: "cpp c++", notCode: slashText,
		defines: cForms},
	{Name: "objc", extensions: ".m .mm", notCode: slashText, defines: cForms},
	{Name: "rust", extensions: ".rs", words: "rust rs", notCode: slashText,
		defines: formsOf("fn|struct|enum|trait|type|const|static|mod|union|let|macro_rules!")},

	{Name: "shell", extensions: ".sh .bash .zsh .ksh", words: "shell sh bash", notCode: shellText, defines: shellForms},
	{Name: "dockerfile", Like: "shell", extensions: ".dockerfile", notCode: shellText},
	{Name: "terraform", extensions: ".tf .hcl .tofu", words: "terraform hcl", notCode: hashText},
	{Name: "lua", extensions: ".lua", notCode: dashText},
	{Name: "sql", extensions: ".sql", notCode: dashText,
		defines: formsOf("table|view|index|function|procedure|trigger|type|column")},
	{Name: "protobuf", extensions: ".proto", words: "protobuf proto", notCode: slashText, defines: messageForms},
	{Name: "graphql", extensions: ".graphql", notCode: hashText, defines: messageForms},
	{Name: "thrift", extensions: ".thrift", words: noWord, defines: messageForms},
	{Name: "css", extensions: ".css"},
	{Name: "scss", extensions: ".scss", words: noWord},
	{Name: "html", extensions: ".html"},

	{Name: "yaml", Kind: Settings, extensions: ".yml .yaml", words: "yaml yml", notCode: hashText},
	{Name: "toml", Kind: Settings, extensions: ".toml", notCode: hashText},
	{Name: "json", Kind: Settings, extensions: ".json"},
	{Name: "xml", Kind: Settings, extensions: ".xml"},
	{Name: "ini", Kind: Settings, extensions: ".ini .cfg .properties .env", words: "ini properties"},
	{Name: "markdown", Kind: Prose, extensions: ".md .mdx .markdown", words: "markdown md"},
	{Name: "text", Kind: Prose, extensions: ".txt .rst .adoc", words: "text txt"},
}

// onlyWords are languages of which only the names are known; none is for a language without a word in Markdown.
const (
	onlyWords = "clojure console diff erlang haskell makefile ocaml perl powershell r zig"
	noWord    = " "
)
