package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A kind is the way in which a value is written.
type kind int

const (
	text kind = iota // a string, or a type whose underlying type is string
	boolean
	integer
	number
	instant
	raw      // json.RawMessage
	texts    // []string
	object   // a struct
	pointer  // a pointer to a struct
	list     // a slice of structs
	duration // time.Duration
	nothing  // a blank field: an array that is always empty
)

var kindNames = [...]string{
	text: "a string", boolean: "bool", integer: "an integer", number: "float64", instant: "time.Time",
	raw: "json.RawMessage", texts: "[]string", object: "a struct", pointer: "a pointer", list: "a slice",
	duration: "time.Duration", nothing: "a blank field",
}

func (k kind) String() string { return kindNames[k] }

// A field is a named field of a struct.
type field struct {
	goName string
	doc    string
	tags   reflect.StructTag
	kind   kind
	goType string // the type as in the source, such as AskKind or askback.Todo
	elem   string // the name of the struct of an object, pointer or list, as in the source
}

// A noun is a struct of the source.
type noun struct {
	name   string
	doc    string
	fields []field
}

// A source has the parts of one package's Go files that the generator needs, and the types of the package
// that these files import.
type source struct {
	nouns  map[string]*noun
	basic  map[string]string // named types with a basic underlying type
	values map[string][]any  // the constants of named string types, in the order of the source
}

// load parses the package in a folder, without its tests and its generated files. The package may use the
// types in imported.
func load(folder string, imported *source) (*source, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, generatedSuffix) {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files[name] = string(src)
	}
	return parse(files, imported)
}

// builtin returns a source with the predeclared types that fields may have.
func builtin() *source {
	s := &source{nouns: map[string]*noun{}, basic: map[string]string{}}
	for _, name := range []string{"string", "bool", "int", "int64", "float64"} {
		s.basic[name] = name
	}
	return s
}

// parse reads the structs of a package. The package may use the types in imported.
func parse(files map[string]string, imported *source) (*source, error) {
	s := &source{nouns: maps.Clone(imported.nouns), basic: maps.Clone(imported.basic), values: map[string][]any{}}
	fset := token.NewFileSet()
	var specs []*ast.TypeSpec
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := parser.ParseFile(fset, name, files[name], parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if ok && g.Tok == token.CONST {
				s.constants(g)
			}
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				t := spec.(*ast.TypeSpec)
				if t.Doc == nil {
					t.Doc = g.Doc
				}
				specs = append(specs, t)
			}
		}
	}
	for _, t := range specs {
		if id, ok := t.Type.(*ast.Ident); ok {
			s.basic[t.Name.Name] = id.Name
		}
	}
	for _, t := range specs {
		if st, ok := t.Type.(*ast.StructType); ok {
			n, err := s.noun(t, st)
			if err != nil {
				return nil, err
			}
			s.nouns[t.Name.Name] = n
		}
	}
	return s, nil
}

// constants adds the string constants of a declaration that have a named type and are not
// empty.
func (s *source) constants(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		v := spec.(*ast.ValueSpec)
		named, ok := v.Type.(*ast.Ident)
		if !ok || len(v.Values) != 1 {
			continue
		}
		literal, ok := v.Values[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		if value, err := strconv.Unquote(literal.Value); err == nil && value != "" {
			s.values[named.Name] = append(s.values[named.Name], value)
		}
	}
}

func (s *source) noun(t *ast.TypeSpec, st *ast.StructType) (*noun, error) {
	n := &noun{name: t.Name.Name, doc: t.Doc.Text()}
	for _, f := range st.Fields.List {
		tag := ""
		if f.Tag != nil {
			var err error
			if tag, err = strconv.Unquote(f.Tag.Value); err != nil {
				return nil, err
			}
		}
		doc := f.Doc.Text()
		if doc == "" {
			doc = f.Comment.Text()
		}
		one := field{doc: strings.TrimSpace(doc), tags: reflect.StructTag(tag)}
		one.kind, one.goType, one.elem = s.kindOf(f.Type)
		for _, name := range f.Names {
			one.goName = name.Name
			if one.goName == "_" {
				one.kind = nothing
			}
			n.fields = append(n.fields, one)
		}
	}
	return n, nil
}

// kindOf returns the kind of a type, its name, and the name of the struct in it. It treats an unknown name as
// a struct.
func (s *source) kindOf(e ast.Expr) (k kind, goType, elem string) {
	name := typeName(e)
	switch e := e.(type) {
	case *ast.ArrayType:
		if elem := typeName(e.Elt); elem == "string" {
			return texts, name, ""
		}
		return list, name, typeName(e.Elt)
	case *ast.StarExpr:
		return pointer, name, typeName(e.X)
	}
	switch name {
	case "time.Time":
		return instant, name, ""
	case "json.RawMessage":
		return raw, name, ""
	case "time.Duration":
		return duration, name, ""
	}
	switch underlying := s.basic[name]; underlying {
	case "string":
		return text, name, ""
	case "bool":
		return boolean, name, ""
	case "int", "int64":
		return integer, name, ""
	case "float64":
		return number, name, ""
	}
	return object, name, name
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return "*" + typeName(e.X)
	case *ast.ArrayType:
		return "[]" + typeName(e.Elt)
	}
	return fmt.Sprintf("%T", e)
}

// qualified returns the types of a package as another package sees them, with the name of
// the package before each exported type.
func (s *source) qualified(pkg string) *source {
	prefix := func(name string) string {
		start := strings.IndexFunc(name, func(r rune) bool { return r != '*' && r != '[' && r != ']' })
		if start < 0 || !ast.IsExported(name[start:]) {
			return name
		}
		return name[:start] + pkg + "." + name[start:]
	}
	out := &source{nouns: map[string]*noun{}, basic: map[string]string{}}
	for name, underlying := range s.basic {
		out.basic[prefix(name)] = underlying
	}
	for name, n := range s.nouns {
		copied := &noun{name: prefix(name), doc: n.doc}
		for _, f := range n.fields {
			f.goType, f.elem = prefix(f.goType), prefix(f.elem)
			copied.fields = append(copied.fields, f)
		}
		out.nouns[prefix(name)] = copied
	}
	return out
}
