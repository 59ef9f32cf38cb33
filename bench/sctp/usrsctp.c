/*
 * What usrsctp costs: two ends in one process, packets through memory.
 *
 *   usrsctp messages SIZE COUNT     CPU of COUNT messages of SIZE bytes, ordered on one stream
 *   usrsctp handshakes COUNT        CPU of COUNT associations, from socket to established
 *
 * Prints one line of JSON. usrsctp runs without threads of its own, its timers
 * move when nothing else does, so that the CPU time of the process is that of
 * both ends and of nothing else.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <usrsctp.h>

#define PACKET_BYTES 1472
#define BUFFER_BYTES (256 * 1024)
#define RING 8192u

struct packet {
    void *to;
    void *data;
    size_t length;
};

/* Packets on their way. For usrsctp an end has one address, by which it names itself and its peer. */
static struct packet ring[RING];
static unsigned head, tail;
static char ends[2];

static int output(void *from, void *data, size_t length, uint8_t tos, uint8_t df)
{
    (void)tos;
    (void)df;
    if (tail - head == RING)
        return 0; /* lost, as on any full queue */
    struct packet *packet = &ring[tail++ % RING];
    packet->to = from == &ends[0] ? &ends[1] : &ends[0];
    packet->data = malloc(length);
    packet->length = length;
    memcpy(packet->data, data, length);
    return 0;
}

static int deliver(void)
{
    if (head == tail)
        return 0;
    struct packet *packet = &ring[head++ % RING];
    usrsctp_conninput(packet->to, packet->data, packet->length, 0);
    free(packet->data);
    return 1;
}

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct sockaddr_conn at(char *end, uint16_t port)
{
    struct sockaddr_conn address;
    memset(&address, 0, sizeof address);
    address.sconn_family = AF_CONN;
    address.sconn_port = htons(port);
    address.sconn_addr = end;
    return address;
}

static struct socket *make(char *end, uint16_t port)
{
    struct socket *so =
        usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    if (so == NULL) {
        perror("socket");
        exit(1);
    }
    int buffer = BUFFER_BYTES, on = 1;
    usrsctp_set_non_blocking(so, 1);
    usrsctp_setsockopt(so, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    usrsctp_setsockopt(so, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on);
    struct sctp_paddrparams path;
    memset(&path, 0, sizeof path);
    path.spp_address.ss_family = AF_CONN;
    path.spp_flags = SPP_PMTUD_DISABLE;
    path.spp_pathmtu = PACKET_BYTES;
    usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path);
    struct sockaddr_conn address = at(end, port);
    if (usrsctp_bind(so, (struct sockaddr *)&address, sizeof address)) {
        perror("bind");
        exit(1);
    }
    return so;
}

static struct socket *dial(uint16_t port)
{
    struct socket *so = make(&ends[0], port);
    struct sockaddr_conn remote = at(&ends[0], 5000);
    if (usrsctp_connect(so, (struct sockaddr *)&remote, sizeof remote) && errno != EINPROGRESS) {
        perror("connect");
        exit(1);
    }
    return so;
}

static struct socket *answer(struct socket *listening)
{
    struct socket *so;
    while ((so = usrsctp_accept(listening, NULL, NULL)) == NULL)
        if (!deliver())
            usrsctp_handle_timers(10);
    while (deliver())
        ;
    return so;
}

static void messages(struct socket *listening, size_t size, uint64_t count)
{
    struct socket *client = dial(6000), *server = answer(listening);
    usrsctp_set_non_blocking(server, 1);
    char *data = calloc(1, size), *into = malloc(1 << 20);
    uint64_t sent = 0, received = 0, warm = count / 10;
    double begun = 0;
    struct sctp_sndinfo info;
    memset(&info, 0, sizeof info);
    while (received < count + warm) {
        int idle = 1;
        while (sent < count + warm &&
               usrsctp_sendv(client, data, size, NULL, 0, &info, sizeof info,
                             SCTP_SENDV_SNDINFO, 0) == (ssize_t)size) {
            sent++;
            idle = 0;
        }
        while (deliver())
            idle = 0;
        for (;;) {
            struct sctp_rcvinfo got;
            socklen_t got_length = sizeof got, from_length = 0;
            unsigned type;
            int flags = 0;
            ssize_t n = usrsctp_recvv(server, into, 1 << 20, NULL, &from_length, &got,
                                      &got_length, &type, &flags);
            if (n <= 0)
                break;
            idle = 0;
            if (flags & MSG_EOR)
                received++;
            if (received == warm && begun == 0)
                begun = cpu_s();
        }
        if (idle)
            usrsctp_handle_timers(10);
    }
    double cpu = cpu_s() - begun;
    printf("{\"stack\":\"usrsctp\",\"size\":%zu,\"count\":%llu,\"cpu_us\":%.6f}\n", size,
           (unsigned long long)count, cpu * 1e6 / (double)count);
}

static void handshakes(struct socket *listening, uint64_t count)
{
    struct socket **open = calloc(2 * count, sizeof *open);
    double begun = cpu_s();
    for (uint64_t i = 0; i < count; i++) {
        open[2 * i] = dial((uint16_t)(6000 + i % 50000));
        open[2 * i + 1] = answer(listening);
    }
    double cpu = cpu_s() - begun;
    printf("{\"stack\":\"usrsctp\",\"handshakes\":%llu,\"cpu_us\":%.6f}\n",
           (unsigned long long)count, cpu * 1e6 / (double)count);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    usrsctp_init_nothreads(0, output, NULL);
    usrsctp_sysctl_set_sctp_blackhole(2);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_register_address(&ends[0]);
    usrsctp_register_address(&ends[1]);
    struct socket *listening = make(&ends[1], 5000);
    usrsctp_listen(listening, 1000);
    if (strcmp(argv[1], "messages") == 0 && argc == 4)
        messages(listening, strtoul(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    else if (strcmp(argv[1], "handshakes") == 0)
        handshakes(listening, strtoull(argv[2], NULL, 10));
    else
        return 2;
    fflush(stdout);
    /* What is open need not be closed one by one. */
    _Exit(0);
}
