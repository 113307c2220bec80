// Command goquote prints strconv.Quote of every code point, one a line, and before them the version of Go's tables.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"unicode"
	"unicode/utf8"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, unicode.Version)
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if utf8.ValidRune(c) {
			fmt.Fprintln(out, strconv.Quote(string(c)))
		}
	}
}
