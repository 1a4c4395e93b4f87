package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// rewriteNumber writes the same number in another way: 1 as 1.0, 1e0 or 10e-1.
func rewriteNumber(r *rand.Rand, c *toolCall) bool {
	n := some(r, c.args.all(number))
	if n == nil {
		return false
	}
	was := n.literal
	n.literal = otherForm(r, was)
	return c.onTree(n.literal != was)
}

func otherForm(r *rand.Rand, s string) string {
	mantissa, exponent, shown := strings.Cut(strings.ToLower(s), "e")
	tens := 0
	if shown {
		tens, _ = strconv.Atoi(exponent)
	}
	if strings.Trim(mantissa, "-0.") == "" {
		return some(r, []string{"0", "-0", "0.00", "0e7", "-0.0E-3"})
	}
	switch r.IntN(4) {
	case 0: // zeros at the end
		if !strings.Contains(mantissa, ".") {
			mantissa += "."
		}
		mantissa += strings.Repeat("0", 1+r.IntN(3))
	case 1: // no point
		whole, fraction, _ := strings.Cut(mantissa, ".")
		sign := ""
		if whole[0] == '-' {
			sign, whole = "-", whole[1:]
		}
		tens -= len(fraction)
		mantissa = sign + strings.TrimLeft(whole+fraction, "0")
	case 2: // ten times as much, of tens
		mantissa, tens = tenfold(mantissa), tens-1
	}
	if tens == 0 && r.IntN(2) == 0 {
		return mantissa
	}
	return mantissa + some(r, []string{"e", "E"}) + some(r, signs(tens)) + strconv.Itoa(max(tens, -tens))
}

// tenfold moves the point of a decimal without exponent.
func tenfold(mantissa string) string {
	whole, fraction, _ := strings.Cut(mantissa, ".")
	sign := ""
	if whole[0] == '-' {
		sign, whole = "-", whole[1:]
	}
	if fraction == "" {
		fraction = "0"
	}
	whole = strings.TrimLeft(whole+fraction[:1], "0")
	if whole == "" {
		whole = "0"
	}
	if fraction = fraction[1:]; fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// signs are the ways to begin an exponent.
func signs(n int) []string {
	if n < 0 {
		return []string{"-"}
	}
	return []string{"", "+", "0", "+00"}
}

// otherNumber draws another number, mostly one that looks like the old one.
func otherNumber(r *rand.Rand, c *toolCall) bool {
	n := some(r, c.args.all(number))
	if n == nil {
		return false
	}
	was := decimal(n.literal)
	s := drawNumber(r)
	switch zero := was.exact().Sign() == 0; {
	case r.IntN(4) == 0 || zero:
	case was[0] == '-':
		s = n.literal[1:]
	case r.IntN(2) == 0:
		s = "-" + n.literal
	default:
		s = neighbour(string(was))
	}
	n.literal = s
	now := decimal(s)
	return c.onTree(now.kept() && !now.equal(was))
}

// neighbour is the next double.
func neighbour(s string) string {
	f, err := strconv.ParseFloat(s, 64)
	next := math.Nextafter(f, math.Inf(1))
	if err != nil || math.IsInf(next, 1) {
		return s
	}
	return strconv.FormatFloat(next, 'g', -1, 64)
}

// inexactNumber makes a number that would look like another one as a double.
func inexactNumber(r *rand.Rand, c *toolCall) bool {
	n := some(r, c.args.all(number))
	if n == nil {
		return false
	}
	n.literal = some(r, []string{
		"9007199254740993", "-9007199254740993", "9007199254740993.0", "9007199254740993e0", "18446744073709551615", "1e400", "-1e309", "1e-400", "2e-324",
		"0.30000000000000001", "0.1000000000000000055511151231257827", "123456789012345678901234567890", "1.00000000000000000000001", "333333333.33333329",
		longer(n.literal),
	})
	return c.onTree(true)
}

// longer is a number between a double and the next, nearer to the first.
func longer(s string) string {
	mantissa, exponent, shown := strings.Cut(strings.ToLower(s), "e")
	if strings.Trim(mantissa, "-0.") == "" {
		return "0.10000000000000001"
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += "."
	}
	mantissa += strings.Repeat("0", 20) + "1"
	if shown {
		return mantissa + "e" + exponent
	}
	return mantissa
}

// otherType makes a value one of another type that looks the same, or is as
// empty.
func otherType(r *rand.Rand, c *toolCall) bool {
	n := some(r, slices.DeleteFunc(c.args.all(word, number, text, array, object), func(n *node) bool { return n == c.args }))
	if n == nil {
		return false
	}
	switch {
	case n.kind == text && n.value == "":
		*n = node{kind: word, literal: some(r, []string{"null", "false"})}
	case n.kind == text:
		*n = unquoted(r, n)
	case n.kind == array && len(n.parts) == 0:
		n.kind = object
	case n.kind == object && len(n.parts) == 0:
		n.kind = array
	case n.kind == array && len(n.parts) == 1:
		*n = *n.parts[0]
	case n.kind == array || n.kind == object || r.IntN(2) == 0:
		inner := *n
		*n = node{kind: array, parts: []*node{&inner}}
	case n.literal == "null":
		*n = *some(r, []*node{newText(r, "null"), newText(r, ""), {kind: number, literal: "0"}, {kind: word, literal: "false"}, {kind: object}})
	case n.kind == word:
		*n = *some(r, []*node{newText(r, n.literal), {kind: number, literal: map[string]string{"true": "1", "false": "0"}[n.literal]}})
	default:
		*n = *newText(r, n.literal)
	}
	return c.onTree(true)
}

// unquoted is the value whose text a string holds, or else a list of the string.
func unquoted(r *rand.Rand, n *node) node {
	switch n.value {
	case "true", "false", "null":
		return node{kind: word, literal: n.value}
	case "0", "1", "1.0":
		return node{kind: number, literal: n.value}
	}
	inner := *n
	return node{kind: array, parts: []*node{&inner}}
}

// wrap puts the arguments into a list or an object.
func wrap(r *rand.Rand, c *toolCall) bool {
	c.args = wrapped(r, c.args)
	return c.onTree(true)
}

func wrapped(r *rand.Rand, n *node) *node {
	if r.IntN(2) == 0 {
		return &node{kind: array, parts: []*node{n}}
	}
	out := &node{kind: object}
	out.add(r, drawText(r, 1), n)
	return out
}

// wrapTo gives the arguments so many levels.
func wrapTo(levels int) func(*rand.Rand, *toolCall) bool {
	return func(r *rand.Rand, c *toolCall) bool {
		for n := c.args.depth(); n < levels; n++ {
			c.args = wrapped(r, c.args)
		}
		return c.onTree(true)
	}
}

// depth is how many levels a node has.
func (n *node) depth() (most int) {
	for _, p := range n.parts {
		most = max(most, p.depth())
	}
	if n.kind == array || n.kind == object {
		most++
	}
	return most
}
