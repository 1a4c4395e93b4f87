package main

import "strings"

// readMembers writes the statements that read an object into the struct that variable points to. With
// version, the number of the format is read into *format. Unknown members are skipped, because a newer
// release may have written them.
func (f form) readMembers(w *writer, variable string, version bool, members []member) {
	w.line("if !r.Object() {")
	w.line("return")
	w.line("}")
	w.line("for name, ok := r.Member(); ok; name, ok = r.Member() {")
	w.line("switch name {")
	if version {
		w.line(`case "v":`)
		w.line("*format = int(r.Int())")
	}
	for _, m := range members {
		if m.kind == nothing {
			continue
		}
		w.line("case %q:", m.name)
		f.readValue(w, m, variable+"."+m.path)
		if was := m.option("was"); was != "" {
			w.line("case %q:", was)
			w.line("if *format > 1 {\nr.Skip()\ncontinue\n}")
			f.readValue(w, m, variable+"."+m.path)
		}
	}
	w.line("default:")
	w.line("r.Skip()")
	w.line("}")
	w.line("}")
}

// readValue writes the statements that read one value.
func (f form) readValue(w *writer, m member, value string) {
	switch m.kind {
	case text:
		w.line("%s = %s", value, converted(m, "string", "r.String()"))
	case boolean:
		if m.is("not") {
			w.line("%s = !r.Bool()", value)
		} else {
			w.line("%s = r.Bool()", value)
		}
	case integer:
		w.line("%s = %s", value, converted(m, "int64", "r.Int()"))
	case number:
		w.line("%s = %s", value, converted(m, "float64", "r.Float()"))
	case instant:
		if f.millis {
			w.line("%s = r.Millis()", value)
		} else {
			w.line("%s = r.Time()", value)
		}
	case raw:
		w.line("%s = r.Raw()", value)
		if m.is("object") {
			w.line("if string(%s) == `{}` {", value)
			w.line("%s = nil", value)
			w.line("}")
		}
	case texts:
		if m.is("custom") {
			w.line("%s.read%s(r)", strings.TrimSuffix(value, "."+m.goName), m.goName)
		} else {
			w.line("%s = r.Strings()", value)
		}
	case object:
		w.line("%s(&%s, r)", f.readOf(m.elem), value)
	case pointer:
		w.line("%s = codec.ReadPointer(r, %s)", value, f.readOf(m.elem))
	case list:
		w.line("%s = codec.ReadList(r, %s)", value, f.readOf(m.elem))
	}
}

func converted(m member, from, value string) string {
	if m.goType == from {
		return value
	}
	return m.goType + "(" + value + ")"
}
