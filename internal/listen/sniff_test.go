package listen

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

func TestClassifyTellsProtocolsByTheirFirstBytes(t *testing.T) {
	tests := []struct {
		head string
		want protocol
	}{
		{"", undecided},
		{"A", undecided},
		{"AMQ", undecided},
		{"AMQP", amqp},
		{"AMQP\x00\x01\x00\x00", amqp},
		{"AMQP\x03\x01\x00\x00", amqp},
		{"AMQX", undecided},
		{"AB", undecided},
		{"AMQ /", http},
		{"ACL ", http},
		{"\x16", undecided},
		{"\x16\x03\x01", secure},
		{"\x16\x02", unknown},
		{"\x80\x2e", unknown},
		{"G", undecided},
		{"GET ", http},
		{"GET /", http},
		{"GOT ", http},
		{"P", undecided},
		{"PU", undecided},
		{"PUT ", http},
		{"POST ", http},
		{"PATCH ", http},
		{"DELETE /", http},
		{"HEAD ", http},
		{"OPTIONS", undecided},
		{"OPTIONS ", http},
		{"CONNECT", undecided},
		{"CONNECT ", http},
		{"TRACE ", http},
		{"TRICE ", http},
		{"PRI * HT", http},
		{"get / ", http},
		{"X", undecided},
		{"a!#$%&'", undecided},
		{"*+-.^_` ", http},
		{"|~09azAZ", http},
		{"PROPFIN", undecided},
		{"PROPFIND", http},
		{"VERSION-", http}, // eight characters that can be part of a method, like CONTROL's, count as HTTP
		{" ", unknown},
		{" GET /", unknown},
		{"GET/ ", unknown},
		{"GET\t", unknown},
		{"G(", unknown},
		{"G\xc3", unknown},
		{"hello\r\n", unknown},
		{"\r\n", unknown},
		{"\x00", unknown},
		{"\xff\xff", unknown},
	}
	for _, tt := range tests {
		if got := classify([]byte(tt.head)); got != tt.want {
			t.Errorf("classify(%q) = %d, want %d", tt.head, got, tt.want)
		}
	}
}

func TestSniffReplaysWhatItReadByteByByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := PipeConns(pipeBuffer)
		const request = "OPTIONS * HTTP/1.1\r\n\r\n"
		go func() {
			for i := range request {
				_, _ = client.Write([]byte(request[i : i+1]))
				synctest.Wait()
			}
			_ = client.Close()
		}()
		conn, p, err := sniff(server)
		if err != nil || p != http {
			t.Fatalf("sniff = %v, %v", p, err)
		}
		got, err := io.ReadAll(conn)
		if err != nil || string(got) != request {
			t.Errorf("read %q, %v; want %q", got, err, request)
		}
	})
}

func TestSniffGivesUpAtTheFirstWrongByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := PipeConns(pipeBuffer)
		_, _ = client.Write([]byte("("))
		if _, _, err := sniff(server); err == nil || !strings.Contains(err.Error(), "neither AMQP nor HTTP") {
			t.Errorf("error %v", err)
		}
	})
}
