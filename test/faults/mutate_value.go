package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// rewriteNumber changes the spelling of a number, for example 1 to 1.0, 1e0 or 10e-1.
func rewriteNumber(r *rand.Rand, c *toolCall) bool {
	n := pick(r, c.args.all(number))
	if n == nil {
		return false
	}
	was := n.literal
	n.literal = otherForm(r, was)
	return c.onTree(n.literal != was)
}

func otherForm(r *rand.Rand, s string) string {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(s), "e")
	tens := 0
	if hasExponent {
		tens, _ = strconv.Atoi(exponent)
	}
	if strings.Trim(mantissa, "-0.") == "" {
		return pick(r, []string{"0", "-0", "0.00", "0e7", "-0.0E-3"})
	}
	switch r.IntN(4) {
	case 0: // trailing zeros
		if !strings.Contains(mantissa, ".") {
			mantissa += "."
		}
		mantissa += strings.Repeat("0", 1+r.IntN(3))
	case 1: // no decimal point
		whole, fraction, _ := strings.Cut(mantissa, ".")
		sign := ""
		if whole[0] == '-' {
			sign, whole = "-", whole[1:]
		}
		tens -= len(fraction)
		mantissa = sign + strings.TrimLeft(whole+fraction, "0")
	case 2: // shift the decimal point
		mantissa, tens = tenfold(mantissa), tens-1
	}
	if tens == 0 && r.IntN(2) == 0 {
		return mantissa
	}
	return mantissa + pick(r, []string{"e", "E"}) + pick(r, signs(tens)) + strconv.Itoa(max(tens, -tens))
}

// tenfold returns ten times a number without an exponent, by moving its decimal point.
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

// signs returns texts that are valid before the digits of the exponent n.
func signs(n int) []string {
	if n < 0 {
		return []string{"-"}
	}
	return []string{"", "+", "0", "+00"}
}

// otherNumber replaces a number with a random number, a number with the other sign, or the next larger
// double.
func otherNumber(r *rand.Rand, c *toolCall) bool {
	n := pick(r, c.args.all(number))
	if n == nil {
		return false
	}
	was := decimal(n.literal)
	s := drawNumber(r)
	switch zero := was.rational().Sign() == 0; {
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
	return c.onTree(now.representable() && !now.equal(was))
}

// neighbour returns the next larger double, or s if s is the largest.
func neighbour(s string) string {
	f, err := strconv.ParseFloat(s, 64)
	next := math.Nextafter(f, math.Inf(1))
	if err != nil || math.IsInf(next, 1) {
		return s
	}
	return strconv.FormatFloat(next, 'g', -1, 64)
}

// inexactNumber changes a number to a number that is rounded when it is read as a double.
func inexactNumber(r *rand.Rand, c *toolCall) bool {
	n := pick(r, c.args.all(number))
	if n == nil {
		return false
	}
	n.literal = pick(r, []string{
		"9007199254740993", "-9007199254740993", "9007199254740993.0", "9007199254740993e0", "18446744073709551615",
		"1e400", "-1e309", "1e-400", "2e-324", "0.30000000000000001", "0.1000000000000000055511151231257827",
		"123456789012345678901234567890", "1.00000000000000000000001", "333333333.33333329",
		longer(n.literal),
	})
	return c.onTree(true)
}

// longer returns s with digits that a double cannot represent, or another such number if s
// is zero.
func longer(s string) string {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(s), "e")
	if strings.Trim(mantissa, "-0.") == "" {
		return "0.10000000000000001"
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += "."
	}
	mantissa += strings.Repeat("0", 20) + "1"
	if hasExponent {
		return mantissa + "e" + exponent
	}
	return mantissa
}

// otherType replaces a value with a value of another type that looks similar or is also empty. It may also
// put a value into an array, or take a value out of an array.
func otherType(r *rand.Rand, c *toolCall) bool {
	n := pick(r,
		slices.DeleteFunc(c.args.all(keyword, number, text, array, object), func(n *node) bool { return n == c.args }))
	if n == nil {
		return false
	}
	switch {
	case n.kind == text && n.value == "":
		*n = node{kind: keyword, literal: pick(r, []string{"null", "false"})}
	case n.kind == text:
		*n = unquoted(r, n)
	case n.kind == array && len(n.children) == 0:
		n.kind = object
	case n.kind == object && len(n.children) == 0:
		n.kind = array
	case n.kind == array && len(n.children) == 1:
		*n = *n.children[0]
	case n.kind == array || n.kind == object || r.IntN(2) == 0:
		inner := *n
		*n = node{kind: array, children: []*node{&inner}}
	case n.literal == "null":
		*n = *pick(r, []*node{
			newText(r, "null"), newText(r, ""),
			{kind: number, literal: "0"},
			{kind: keyword, literal: "false"},
			{kind: object},
		})
	case n.kind == keyword:
		*n = *pick(r, []*node{
			newText(r, n.literal), {kind: number, literal: map[string]string{"true": "1", "false": "0"}[n.literal]},
		})
	default:
		*n = *newText(r, n.literal)
	}
	return c.onTree(true)
}

// unquoted returns the value that the content of a string spells, such as true or 1. For
// any other string, it returns an array with the string.
func unquoted(r *rand.Rand, n *node) node {
	switch n.value {
	case "true", "false", "null":
		return node{kind: keyword, literal: n.value}
	case "0", "1", "1.0":
		return node{kind: number, literal: n.value}
	}
	inner := *n
	return node{kind: array, children: []*node{&inner}}
}

// wrap puts the arguments into an array or an object.
func wrap(r *rand.Rand, c *toolCall) bool {
	c.args = wrapped(r, c.args)
	return c.onTree(true)
}

func wrapped(r *rand.Rand, n *node) *node {
	if r.IntN(2) == 0 {
		return &node{kind: array, children: []*node{n}}
	}
	out := &node{kind: object}
	out.add(r, drawText(r, 1), n)
	return out
}

// wrapTo returns a mutation that nests the arguments up to the given depth.
func wrapTo(levels int) func(*rand.Rand, *toolCall) bool {
	return func(r *rand.Rand, c *toolCall) bool {
		for n := c.args.depth(); n < levels; n++ {
			c.args = wrapped(r, c.args)
		}
		return c.onTree(true)
	}
}

// depth returns the depth to which arrays and objects are nested in a node. It returns 0 if the node is
// neither an array nor an object.
func (n *node) depth() (most int) {
	for _, p := range n.children {
		most = max(most, p.depth())
	}
	if n.kind == array || n.kind == object {
		most++
	}
	return most
}
