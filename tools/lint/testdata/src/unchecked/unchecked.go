// Package unchecked ignores errors.
package unchecked

import (
	"fmt"
	"net"
	"os"
)

func all(file *os.File, conn net.Conn) {
	defer file.Close()
	defer os.Remove("x")
	conn.Close()
	fmt.Fprintln(conn, "x")
	_ = os.Remove("x")
	file.Close()   // want `the error of file.Close`
	os.Remove("x") // want `the error of os.Remove`
}
