// An echo server and client over pion/sctp and UDP encapsulation, for the
// interop tests. pion speaks over a net.Conn and knows neither UDP
// encapsulation nor ports of its own choice (both are 5000): here a UDP socket
// carries its packets as they are, which is what RFC 6951 asks for. Both ends
// print one line of JSON for each association.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/pion/logging"
	"github.com/pion/sctp"
)

const (
	lastIndex = 0xffffffff
	largest   = 300000
	// Chunk types (RFC 9260, section 3.2).
	chunkInit             = 1
	chunkShutdownAck      = 8
	chunkShutdownComplete = 14
	// How long an association may take to end.
	endPatience = 90 * time.Second
)

var set struct {
	udp, remoteUDP, count, size, streams, window int
	unordered, interleave, reset, linger         bool
	maxRtx, ttl, endAfter, rtoMax, restMs        int
	end                                          string
}

type report struct {
	Stack        string `json:"stack"`
	Role         string `json:"role"`
	Sent         int    `json:"sent"`
	Received     int    `json:"received"`
	Echoed       int    `json:"echoed"`
	Bad          int    `json:"bad"`
	Interleaving bool   `json:"interleaving"`
	ResetsIn     int    `json:"resets_in"`
	ResetsOut    int    `json:"resets_out"`
	LastCame     bool   `json:"last_came"`
	Ended        string `json:"ended"`
}

func tell(value any) {
	line, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func fill(index uint32, size int) []byte {
	data := make([]byte, size)
	for j := range data {
		data[j] = byte(index*31 + uint32(j)*7)
	}
	if size >= 4 {
		binary.BigEndian.PutUint32(data, index)
	}
	return data
}

// conn is a UDP socket that answers whoever sent last, and that tells an
// association which began apart from the packets of the one before it.
type conn struct {
	socket *net.UDPConn
	mu     sync.Mutex
	peer   *net.UDPAddr
	// The first packet, read before the association existed.
	first []byte
	done  bool
	// When the last packet came.
	heard time.Time
}

func (c *conn) Read(to []byte) (int, error) {
	c.mu.Lock()
	if c.first != nil {
		n := copy(to, c.first)
		c.first = nil
		c.mu.Unlock()
		return n, nil
	}
	c.mu.Unlock()
	for {
		n, from, err := c.socket.ReadFromUDP(to)
		if err != nil {
			var refused net.Error
			if errors.As(err, &refused) && !refused.Timeout() && !errors.Is(err, net.ErrClosed) {
				continue // an ICMP report; the association decides
			}
			return n, err
		}
		c.mu.Lock()
		c.peer = from
		c.heard = time.Now()
		c.mu.Unlock()
		return n, nil
	}
}

func (c *conn) Write(data []byte) (int, error) {
	c.mu.Lock()
	peer := c.peer
	c.mu.Unlock()
	if n, err := c.socket.WriteToUDP(data, peer); err == nil {
		return n, nil
	}
	return len(data), nil
}

// Close ends the reading of this association; the socket serves the next one.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.done = true
		return c.socket.SetReadDeadline(time.Now())
	}
	return nil
}

func (c *conn) LocalAddr() net.Addr                { return c.socket.LocalAddr() }
func (c *conn) RemoteAddr() net.Addr               { return c.peer }
func (c *conn) SetDeadline(t time.Time) error      { return c.socket.SetDeadline(t) }
func (c *conn) SetReadDeadline(t time.Time) error  { return c.socket.SetReadDeadline(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.socket.SetWriteDeadline(t) }

func config(c *conn, name string) sctp.Config {
	loggers := logging.NewDefaultLoggerFactory()
	loggers.DefaultLogLevel = logging.LogLevelError
	return sctp.Config{
		Name:                 name,
		NetConn:              c,
		LoggerFactory:        loggers,
		MTU:                  1200,
		MaxReceiveBufferSize: 2 << 20,
		MaxMessageSize:       largest,
		RTOMax:               float64(set.rtoMax),
	}
}

func socket() *net.UDPConn {
	s, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: set.udp})
	if err != nil {
		fmt.Fprintln(os.Stderr, "pion:", err)
		os.Exit(2)
	}
	return s
}

// How an association ended, as far as pion tells: reading fails with the peer's
// ABORT, or with the end of the stream.
func ending(err error) string {
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return "shutdown"
	case strings.Contains(err.Error(), "abort"):
		return "abort"
	case errors.Is(err, os.ErrDeadlineExceeded), strings.Contains(err.Error(), "closed"):
		return "shutdown"
	default:
		return err.Error()
	}
}

func serve() {
	s := socket()
	tell(map[string]any{"stack": "pion", "ready": true})
	for {
		_ = s.SetReadDeadline(time.Time{})
		buffer := make([]byte, 65536)
		n, from, err := s.ReadFromUDP(buffer)
		if err != nil {
			continue
		}
		// Only INIT begins an association; the rest belongs to an old one.
		if n < 16 || buffer[12] != chunkInit {
			continue
		}
		serveOne(&conn{socket: s, peer: from, first: buffer[:n]})
	}
}

func serveOne(c *conn) {
	association, err := sctp.ServerWithOptions(config(c, "server"),
		sctp.WithEnableInterleaving(set.interleave))
	if err != nil {
		tell(report{Stack: "pion", Role: "serve", Ended: "refused"})
		return
	}
	metadata, _ := association.Metadata()
	result := report{Stack: "pion", Role: "serve", Interleaving: metadata.MessageInterleavingEnabled}
	var mu sync.Mutex
	var readers sync.WaitGroup
	for {
		stream, err := association.AcceptStream()
		if err != nil {
			break
		}
		readers.Add(1)
		go func() {
			defer readers.Done()
			// pion does not tell whether a message came unordered.
			stream.SetReliabilityParams(set.unordered, sctp.ReliabilityTypeReliable, 0)
			buffer := make([]byte, largest)
			for {
				n, ppid, err := stream.ReadSCTP(buffer)
				mu.Lock()
				if err != nil {
					if errors.Is(err, io.EOF) && !c.ended() {
						result.ResetsIn++
						mu.Unlock()
						// What the peer resets is reset the other way too (RFC 8831).
						_ = stream.Close()
						return
					}
					if result.Ended == "" {
						result.Ended = ending(err)
					}
					mu.Unlock()
					return
				}
				result.Received++
				count := result.Received
				mu.Unlock()
				if _, err = stream.WriteSCTP(append([]byte(nil), buffer[:n]...), ppid); err != nil {
					continue
				}
				if count == set.endAfter {
					go finish(association, &result, &mu)
				}
			}
		}()
	}
	_ = c.Close()
	readers.Wait()
	if result.Ended == "" {
		result.Ended = "shutdown"
	}
	tell(result)
}

func (c *conn) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}

func finish(association *sctp.Association, result *report, mu *sync.Mutex) {
	if set.end == "abort" {
		mu.Lock()
		result.Ended = "own abort"
		mu.Unlock()
		association.Abort("end")
		return
	}
	drain(association)
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	if err := association.Shutdown(ctx); err != nil {
		mu.Lock()
		result.Ended = "shutdown: " + err.Error()
		mu.Unlock()
	}
}

// rest waits until the line has been quiet for a while: pion may not end an association while
// echoes are still repeated (see docs/interop.md).
func (c *conn) rest(quiet time.Duration) {
	for {
		c.mu.Lock()
		left := quiet - time.Since(c.heard)
		c.mu.Unlock()
		if left <= 0 {
			return
		}
		time.Sleep(left)
	}
}

// linger answers a peer that has not heard of the end, as RFC 9260, section 8.4, asks of a host.
// An association of pion ends with its net.Conn, and nobody else would.
func linger(s *net.UDPConn) {
	_ = s.SetReadDeadline(time.Time{})
	buffer := make([]byte, 65536)
	for {
		n, from, err := s.ReadFromUDP(buffer)
		if err != nil || n < 16 || buffer[12] != chunkShutdownAck {
			continue
		}
		answer := make([]byte, 16)
		copy(answer, buffer[2:4])
		copy(answer[2:], buffer[:2])
		// The tag comes back as it is, which the T bit says.
		copy(answer[4:], buffer[4:8])
		answer[12], answer[13], answer[15] = chunkShutdownComplete, 1, 4
		sum := crc32.Checksum(answer, crc32.MakeTable(crc32.Castagnoli))
		binary.LittleEndian.PutUint32(answer[8:], sum)
		_, _ = s.WriteToUDP(answer, from)
	}
}

// Shutdown of pion does not wait for what is still queued, so this does.
func drain(association *sctp.Association) {
	for association.BufferedAmount() > 0 {
		time.Sleep(time.Millisecond)
	}
}

type client struct {
	mu      sync.Mutex
	changed *sync.Cond
	result  report
	next    map[uint16]uint32
	done    bool
}

func partial() bool { return set.maxRtx >= 0 || set.ttl >= 0 }

func (c *client) check(stream uint16, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.changed.Broadcast()
	if len(data) == 8 && set.size != 8 && bytes.Equal(data, fill(lastIndex, 8)) {
		c.result.LastCame = true
		return
	}
	index := c.next[stream]
	if set.size >= 4 && len(data) >= 4 {
		index = binary.BigEndian.Uint32(data)
	}
	ordered := !set.unordered && !partial()
	if !bytes.Equal(data, fill(index, set.size)) || uint16(int(index)%set.streams) != stream ||
		ordered && index != c.next[stream] {
		c.result.Bad++
	}
	c.next[stream] = index + uint32(set.streams)
	c.result.Echoed++
}

func (c *client) collect(stream *sctp.Stream) {
	buffer := make([]byte, largest)
	for {
		n, _, err := stream.ReadSCTP(buffer)
		if err != nil {
			c.mu.Lock()
			if errors.Is(err, io.EOF) && set.reset && !c.done {
				c.result.ResetsOut++
			} else {
				c.done = true
				if c.result.Ended == "" {
					c.result.Ended = ending(err)
				}
			}
			c.changed.Broadcast()
			c.mu.Unlock()
			return
		}
		c.check(stream.StreamIdentifier(), buffer[:n])
	}
}

func (c *client) waitUntil(holds func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !holds() && !c.done {
		c.changed.Wait()
	}
}

func (c *client) open(association *sctp.Association) []*sctp.Stream {
	streams := make([]*sctp.Stream, set.streams)
	for i := range streams {
		stream, err := association.OpenStream(uint16(i), sctp.PayloadTypeWebRTCBinary)
		if err != nil {
			fmt.Fprintln(os.Stderr, "pion:", err)
			os.Exit(2)
		}
		kind, value := sctp.ReliabilityTypeReliable, uint32(0)
		if set.maxRtx >= 0 {
			kind, value = sctp.ReliabilityTypeRexmit, uint32(set.maxRtx)
		} else if set.ttl >= 0 {
			kind, value = sctp.ReliabilityTypeTimed, uint32(set.ttl)
		}
		stream.SetReliabilityParams(set.unordered, kind, value)
		streams[i] = stream
		c.mu.Lock()
		first := uint32(c.result.Sent)
		offset := (uint32(i) + uint32(set.streams) - first%uint32(set.streams)) % uint32(set.streams)
		c.next[uint16(i)] = first + offset
		c.mu.Unlock()
		go c.collect(stream)
	}
	return streams
}

func (c *client) sendAll(streams []*sctp.Stream) {
	for i := 0; i < set.count && !c.isDone(); i++ {
		if partial() {
			time.Sleep(time.Millisecond)
		} else {
			c.waitUntil(func() bool { return c.result.Sent-c.result.Echoed < set.window })
		}
		index := c.result.Sent
		_, err := streams[index%set.streams].Write(fill(uint32(index), set.size))
		if err != nil {
			return
		}
		c.mu.Lock()
		c.result.Sent++
		c.mu.Unlock()
	}
	if partial() {
		streams[0].SetReliabilityParams(set.unordered, sctp.ReliabilityTypeReliable, 0)
		_, _ = streams[0].Write(fill(lastIndex, 8))
		c.waitUntil(func() bool { return c.result.LastCame })
		return
	}
	c.waitUntil(func() bool { return c.result.Echoed >= c.result.Sent })
}

func (c *client) isDone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}

func connect() {
	s := socket()
	remote := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: set.remoteUDP}
	wire := &conn{socket: s, peer: remote}
	association, err := sctp.ClientWithOptions(config(wire, "client"),
		sctp.WithEnableInterleaving(set.interleave))
	if err != nil {
		tell(report{Stack: "pion", Role: "connect", Ended: "refused"})
		os.Exit(1)
	}
	tell(map[string]any{"stack": "pion", "up": true})
	metadata, _ := association.Metadata()
	c := &client{next: map[uint16]uint32{}}
	c.changed = sync.NewCond(&c.mu)
	c.result = report{Stack: "pion", Role: "connect", Interleaving: metadata.MessageInterleavingEnabled}
	streams := c.open(association)
	c.sendAll(streams)
	if set.reset && !c.isDone() {
		for _, stream := range streams {
			_ = stream.Close()
		}
		c.waitUntil(func() bool { return c.result.ResetsOut == set.streams })
		c.sendAll(c.open(association))
	}
	var mu sync.Mutex
	switch set.end {
	case "wait":
		c.waitUntil(func() bool { return false })
	case "abort":
		c.mu.Lock()
		c.done, c.result.Ended = true, "own abort"
		c.mu.Unlock()
		association.Abort("end")
	default:
		wire.rest(time.Duration(set.restMs) * time.Millisecond)
		ended := report{}
		c.mu.Lock()
		c.result.Ended = "shutdown"
		c.mu.Unlock()
		finish(association, &ended, &mu)
		if ended.Ended != "" {
			c.result.Ended = ended.Ended
		}
	}
	c.mu.Lock()
	tell(c.result)
	c.mu.Unlock()
	if set.linger {
		// It no longer reads.
		_ = association.Close()
		linger(s)
	}
}

func main() {
	flags := flag.NewFlagSet("peer", flag.ExitOnError)
	flags.IntVar(&set.udp, "udp", 0, "own UDP port")
	flags.IntVar(&set.remoteUDP, "remote-udp", 0, "the peer's UDP port")
	port := flags.Int("port", 5000, "SCTP port of both ends; pion knows no other than 5000")
	flags.IntVar(&set.count, "count", 100, "messages")
	flags.IntVar(&set.size, "size", 100, "bytes of a message")
	flags.IntVar(&set.streams, "streams", 1, "streams")
	flags.IntVar(&set.window, "window", 64, "messages not yet echoed at most")
	flags.BoolVar(&set.unordered, "unordered", false, "unordered delivery")
	flags.BoolVar(&set.interleave, "interleave", false, "offer I-DATA")
	flags.BoolVar(&set.reset, "reset", false, "reset the streams and send again")
	flags.IntVar(&set.maxRtx, "max-rtx", -1, "retransmissions of a message at most")
	flags.IntVar(&set.ttl, "ttl", -1, "lifetime of a message in ms")
	flags.IntVar(&set.restMs, "rest", 0, "ms without a packet before the client shuts down")
	flags.BoolVar(&set.linger, "linger", false, "the client stays after its report")
	flags.StringVar(&set.end, "end", "shutdown", "shutdown, abort or wait")
	flags.IntVar(&set.endAfter, "end-after", 0, "the server ends after so many messages")
	flags.IntVar(&set.rtoMax, "rto-max", 0, "RTO.Max in ms")
	flags.Int("assoc-max-rtx", 0, "accepted and without effect: pion has no such limit")
	if len(os.Args) < 2 {
		flags.Usage()
		os.Exit(2)
	}
	_ = flags.Parse(os.Args[2:])
	if *port != 5000 {
		fmt.Fprintln(os.Stderr, "pion: its SCTP ports are 5000")
		os.Exit(2)
	}
	if os.Args[1] == "serve" {
		serve()
	} else {
		connect()
	}
}
