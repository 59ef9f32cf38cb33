/*
 * An echo server and client over usrsctp and UDP encapsulation (RFC 6951), for
 * the interop tests. Both print one line of JSON for each association.
 *
 *   peer serve   --udp PORT [options]
 *   peer connect --udp PORT --remote-udp PORT [options]
 *
 * The options are those of every peer here; see usage() and docs/interop.md.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <usrsctp.h>

/* An option of usrsctp that Debian's header does not name. */
#define INTERLEAVING_SUPPORTED 0x00001206

#define LAST_INDEX 0xffffffffu
#define LARGEST 300000u
#define MAX_STREAMS 1024u

struct settings {
    int serve;
    uint16_t udp, remote_udp, port;
    uint32_t count, size, streams, window;
    int unordered, interleave, reset, linger;
    int max_rtx, ttl_ms;
    uint32_t rto_max_ms, assoc_max_rtx;
    uint32_t end_after;
    const char *end;
};

static struct settings set = {.port = 5000,
                              .count = 100,
                              .size = 100,
                              .streams = 1,
                              .window = 64,
                              .max_rtx = -1,
                              .ttl_ms = -1,
                              .end = "shutdown"};

static void fail(const char *what)
{
    fprintf(stderr, "usrsctp: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* ---- What a message holds: its index, then bytes that follow from both. ---- */

static void fill(unsigned char *to, uint32_t index, uint32_t size)
{
    for (uint32_t j = 0; j < size; j++)
        to[j] = (unsigned char)(index * 31 + j * 7);
    if (size >= 4) {
        uint32_t wire = htonl(index);
        memcpy(to, &wire, 4);
    }
}

static int good(const unsigned char *data, size_t length, uint32_t index, uint32_t size)
{
    static _Thread_local unsigned char expected[LARGEST];
    fill(expected, index, size);
    return length == size && memcmp(data, expected, size) == 0;
}

/* ---- The socket. ---- */

static struct sockaddr_in loopback(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static struct socket *make_socket(void)
{
    struct socket *so =
        usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    if (so == NULL)
        fail("socket");
    int buffer = 1 << 21, on = 1;
    usrsctp_setsockopt(so, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    usrsctp_setsockopt(so, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on);
    usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof on);

    struct sctp_udpencaps encaps;
    memset(&encaps, 0, sizeof encaps);
    encaps.sue_address.ss_family = AF_INET;
    encaps.sue_port = htons(set.remote_udp);
    if (set.remote_udp &&
        usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps, sizeof encaps))
        fail("SCTP_REMOTE_UDP_ENCAPS_PORT");

    struct sctp_initmsg init;
    memset(&init, 0, sizeof init);
    init.sinit_num_ostreams = init.sinit_max_instreams = MAX_STREAMS;
    usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_INITMSG, &init, sizeof init);

    struct sctp_assoc_value reset = {.assoc_id = SCTP_FUTURE_ASSOC,
                                     .assoc_value = SCTP_ENABLE_RESET_STREAM_REQ};
    usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_ENABLE_STREAM_RESET, &reset, sizeof reset);

    if (set.interleave) {
        int level = 2;
        struct sctp_assoc_value yes = {.assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = 1};
        if (usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_FRAGMENT_INTERLEAVE, &level, sizeof level) ||
            usrsctp_setsockopt(so, IPPROTO_SCTP, INTERLEAVING_SUPPORTED, &yes, sizeof yes))
            fail("interleaving");
    }
    if (set.rto_max_ms) {
        struct sctp_rtoinfo rto = {.srto_assoc_id = SCTP_FUTURE_ASSOC,
                                   .srto_initial = set.rto_max_ms,
                                   .srto_max = set.rto_max_ms,
                                   .srto_min = set.rto_max_ms < 200 ? set.rto_max_ms : 200};
        usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_RTOINFO, &rto, sizeof rto);
    }
    if (set.assoc_max_rtx) {
        struct sctp_assocparams params;
        memset(&params, 0, sizeof params);
        params.sasoc_asocmaxrxt = (uint16_t)set.assoc_max_rtx;
        usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_ASSOCINFO, &params, sizeof params);
    }
    uint16_t events[] = {SCTP_ASSOC_CHANGE, SCTP_SHUTDOWN_EVENT, SCTP_STREAM_RESET_EVENT,
                         SCTP_SEND_FAILED_EVENT};
    for (unsigned i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct sctp_event event = {
            .se_assoc_id = SCTP_FUTURE_ASSOC, .se_on = 1, .se_type = events[i]};
        usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_EVENT, &event, sizeof event);
    }
    return so;
}

/* ---- Receiving: whole messages, whatever pieces usrsctp hands over. ---- */

struct part {
    unsigned char *data;
    size_t length;
};

struct peer {
    struct socket *so;
    /* Pieces of unfinished messages, by stream, ordered and unordered apart. */
    struct part parts[MAX_STREAMS][2];
    const char *ended;
    int interleaving, resets_in, resets_out, restarts, abandoned;
};

enum got { GOT_MESSAGE, GOT_NEWS, GOT_END };

/* What ended it first counts. */
static void end_as(struct peer *peer, const char *how)
{
    if (peer->ended == NULL)
        peer->ended = how;
}

static void notified(struct peer *peer, const union sctp_notification *news)
{
    switch (news->sn_header.sn_type) {
    case SCTP_ASSOC_CHANGE: {
        const struct sctp_assoc_change *change = &news->sn_assoc_change;
        if (change->sac_state == SCTP_RESTART) {
            peer->restarts++;
        } else if (change->sac_state == SCTP_COMM_LOST) {
            /* An ABORT chunk comes along where the peer sent one. */
            end_as(peer, change->sac_length > sizeof *change ? "abort" : "lost");
        } else if (change->sac_state == SCTP_SHUTDOWN_COMP) {
            end_as(peer, "shutdown");
        } else if (change->sac_state == SCTP_CANT_STR_ASSOC) {
            end_as(peer, "refused");
        }
        break;
    }
    case SCTP_STREAM_RESET_EVENT: {
        uint16_t flags = news->sn_strreset_event.strreset_flags;
        if (!(flags & (SCTP_STREAM_RESET_DENIED | SCTP_STREAM_RESET_FAILED))) {
            peer->resets_in += (flags & SCTP_STREAM_RESET_INCOMING_SSN) != 0;
            peer->resets_out += (flags & SCTP_STREAM_RESET_OUTGOING_SSN) != 0;
        }
        break;
    }
    case SCTP_SEND_FAILED_EVENT:
        peer->abandoned++;
        break;
    default:
        break;
    }
}

static enum got receive(struct peer *peer, struct part *message, struct sctp_rcvinfo *info)
{
    unsigned char buffer[65536];
    socklen_t from_length = 0, info_length = sizeof *info;
    unsigned type = 0;
    int flags = 0;
    ssize_t n = usrsctp_recvv(peer->so, buffer, sizeof buffer, NULL, &from_length, info,
                              &info_length, &type, &flags);
    if (n <= 0) {
        end_as(peer, n == 0 ? "shutdown" : errno == ECONNRESET ? "abort" : "lost");
        return GOT_END;
    }
    if (flags & MSG_NOTIFICATION) {
        notified(peer, (const union sctp_notification *)buffer);
        return GOT_NEWS;
    }
    if (info->rcv_sid >= MAX_STREAMS)
        return GOT_NEWS;
    struct part *part =
        &peer->parts[info->rcv_sid][(info->rcv_flags & SCTP_UNORDERED) != 0];
    part->data = realloc(part->data, part->length + (size_t)n);
    memcpy(part->data + part->length, buffer, (size_t)n);
    part->length += (size_t)n;
    if (!(flags & MSG_EOR))
        return GOT_NEWS;
    *message = *part;
    *part = (struct part){0};
    return GOT_MESSAGE;
}

/* Whether I-DATA was agreed on. */
static int interleaves(struct socket *so)
{
    struct sctp_assoc_value value = {.assoc_id = SCTP_FUTURE_ASSOC};
    socklen_t length = sizeof value;
    return usrsctp_getsockopt(so, IPPROTO_SCTP, INTERLEAVING_SUPPORTED, &value, &length) == 0 &&
           value.assoc_value != 0;
}

static int send_message(struct socket *so, const void *data, size_t length, uint16_t stream,
                        int unordered, int reliable)
{
    struct sctp_sendv_spa spa;
    memset(&spa, 0, sizeof spa);
    spa.sendv_flags = SCTP_SEND_SNDINFO_VALID;
    spa.sendv_sndinfo.snd_sid = stream;
    spa.sendv_sndinfo.snd_flags = unordered ? SCTP_UNORDERED : 0;
    if (!reliable && (set.max_rtx >= 0 || set.ttl_ms >= 0)) {
        spa.sendv_flags |= SCTP_SEND_PRINFO_VALID;
        spa.sendv_prinfo.pr_policy = set.max_rtx >= 0 ? SCTP_PR_SCTP_RTX : SCTP_PR_SCTP_TTL;
        spa.sendv_prinfo.pr_value = (uint32_t)(set.max_rtx >= 0 ? set.max_rtx : set.ttl_ms);
    }
    return usrsctp_sendv(so, data, length, NULL, 0, &spa, sizeof spa, SCTP_SENDV_SPA, 0) < 0
               ? -1
               : 0;
}

static void abort_association(struct socket *so)
{
    struct sctp_sndinfo info;
    memset(&info, 0, sizeof info);
    info.snd_flags = SCTP_ABORT;
    /* The data goes into the cause "user-initiated abort". */
    if (usrsctp_sendv(so, "end", 3, NULL, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0) < 0)
        perror("usrsctp: abort");
}

/* ---- The server: every message goes back on its stream, in its order. ---- */

static void *echo(void *argument)
{
    struct peer *peer = argument;
    struct part message;
    struct sctp_rcvinfo info;
    uint64_t received = 0, bytes = 0;
    enum got got;
    peer->interleaving = interleaves(peer->so);
    while ((got = receive(peer, &message, &info)) != GOT_END) {
        if (got != GOT_MESSAGE)
            continue;
        received++;
        bytes += message.length;
        send_message(peer->so, message.data, message.length, info.rcv_sid,
                     info.rcv_flags & SCTP_UNORDERED, 1);
        free(message.data);
        if (set.end_after && received == set.end_after) {
            if (strcmp(set.end, "abort") == 0) {
                peer->ended = "own abort";
                abort_association(peer->so);
                break;
            }
            usrsctp_shutdown(peer->so, SHUT_WR);
        }
    }
    usrsctp_close(peer->so);
    printf("{\"stack\":\"usrsctp\",\"role\":\"serve\",\"received\":%llu,\"bytes\":%llu,"
           "\"interleaving\":%s,\"resets_in\":%d,\"restarts\":%d,\"ended\":\"%s\"}\n",
           (unsigned long long)received, (unsigned long long)bytes,
           peer->interleaving ? "true" : "false", peer->resets_in, peer->restarts, peer->ended);
    fflush(stdout);
    free(peer);
    return NULL;
}

static void serve(void)
{
    struct socket *so = make_socket();
    struct sockaddr_in address = loopback(set.port);
    if (usrsctp_bind(so, (struct sockaddr *)&address, sizeof address))
        fail("bind");
    if (usrsctp_listen(so, 16))
        fail("listen");
    printf("{\"stack\":\"usrsctp\",\"ready\":true}\n");
    fflush(stdout);
    for (;;) {
        struct peer *peer = calloc(1, sizeof *peer);
        peer->so = usrsctp_accept(so, NULL, NULL);
        if (peer->so == NULL)
            fail("accept");
        pthread_t thread;
        pthread_create(&thread, NULL, echo, peer);
        pthread_detach(thread);
    }
}

/* ---- The client. ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t sent, echoed, bad;
    /* The next index that an ordered echo on this stream must have. */
    uint32_t next[MAX_STREAMS];
    int last_came, done;
    struct peer *peer;
} client = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void check(const struct part *message, const struct sctp_rcvinfo *info)
{
    uint32_t index = 0;
    int partial = set.max_rtx >= 0 || set.ttl_ms >= 0;
    if (message->length == 8 && set.size != 8) {
        memcpy(&index, message->data, 4);
        if (index == LAST_INDEX && good(message->data, 8, LAST_INDEX, 8)) {
            client.last_came = 1;
            return;
        }
    }
    if (set.size >= 4 && message->length >= 4) {
        memcpy(&index, message->data, 4);
        index = ntohl(index);
    } else {
        index = client.next[info->rcv_sid];
    }
    int ordered = !set.unordered && !partial;
    if (!good(message->data, message->length, index, set.size) ||
        index % set.streams != info->rcv_sid ||
        (ordered && index != client.next[info->rcv_sid]) ||
        (!(info->rcv_flags & SCTP_UNORDERED) != !set.unordered))
        client.bad++;
    client.next[info->rcv_sid] = index + set.streams;
    client.echoed++;
}

static void *collect(void *argument)
{
    (void)argument;
    struct part message;
    struct sctp_rcvinfo info;
    enum got got;
    while ((got = receive(client.peer, &message, &info)) != GOT_END) {
        pthread_mutex_lock(&client.lock);
        if (got == GOT_MESSAGE) {
            check(&message, &info);
            free(message.data);
        }
        pthread_cond_broadcast(&client.changed);
        pthread_mutex_unlock(&client.lock);
    }
    pthread_mutex_lock(&client.lock);
    client.done = 1;
    pthread_cond_broadcast(&client.changed);
    pthread_mutex_unlock(&client.lock);
    return NULL;
}

static void wait_echoed(uint32_t least)
{
    pthread_mutex_lock(&client.lock);
    while (client.echoed < least && !client.done)
        pthread_cond_wait(&client.changed, &client.lock);
    pthread_mutex_unlock(&client.lock);
}

static void send_all(void)
{
    static unsigned char data[LARGEST];
    int partial = set.max_rtx >= 0 || set.ttl_ms >= 0;
    for (uint32_t i = 0; i < set.count && !client.done; i++, client.sent++) {
        if (partial)
            usleep(1000);
        else if (client.sent >= set.window)
            wait_echoed(client.sent - set.window + 1);
        fill(data, client.sent, set.size);
        if (send_message(client.peer->so, data, set.size, (uint16_t)(client.sent % set.streams),
                         set.unordered, 0))
            break;
    }
    if (partial) {
        /* What follows reliably shows that the association lives. */
        fill(data, LAST_INDEX, 8);
        send_message(client.peer->so, data, 8, 0, 0, 1);
        pthread_mutex_lock(&client.lock);
        while (!client.last_came && !client.done)
            pthread_cond_wait(&client.changed, &client.lock);
        pthread_mutex_unlock(&client.lock);
    } else {
        wait_echoed(client.sent);
    }
}

/* Resets every stream and sends on it again: its numbers begin at zero. */
static void reset_streams(void)
{
    struct sctp_reset_streams reset;
    memset(&reset, 0, sizeof reset);
    reset.srs_flags = SCTP_STREAM_RESET_OUTGOING;
    if (usrsctp_setsockopt(client.peer->so, IPPROTO_SCTP, SCTP_RESET_STREAMS, &reset,
                           sizeof reset))
        fail("SCTP_RESET_STREAMS");
    pthread_mutex_lock(&client.lock);
    while (client.peer->resets_out == 0 && !client.done)
        pthread_cond_wait(&client.changed, &client.lock);
    pthread_mutex_unlock(&client.lock);
}

static void connect_and_run(void)
{
    client.peer = calloc(1, sizeof *client.peer);
    client.peer->so = make_socket();
    struct sockaddr_in local = loopback(set.port), remote = loopback(set.port);
    if (usrsctp_bind(client.peer->so, (struct sockaddr *)&local, sizeof local))
        fail("bind");
    if (usrsctp_connect(client.peer->so, (struct sockaddr *)&remote, sizeof remote)) {
        printf("{\"stack\":\"usrsctp\",\"role\":\"connect\",\"sent\":0,\"echoed\":0,\"bad\":0,"
               "\"ended\":\"refused\"}\n");
        exit(1);
    }
    printf("{\"stack\":\"usrsctp\",\"up\":true}\n");
    fflush(stdout);
    client.peer->interleaving = interleaves(client.peer->so);
    for (uint32_t stream = 0; stream < set.streams; stream++)
        client.next[stream] = stream;
    pthread_t thread;
    pthread_create(&thread, NULL, collect, NULL);
    send_all();
    if (set.reset && !client.done) {
        reset_streams();
        uint32_t first = client.sent;
        for (uint32_t stream = 0; stream < set.streams; stream++)
            client.next[(first + stream) % set.streams] = first + stream;
        send_all();
    }
    if (strcmp(set.end, "shutdown") == 0) {
        usrsctp_shutdown(client.peer->so, SHUT_WR);
    } else if (strcmp(set.end, "abort") == 0) {
        client.peer->ended = "own abort";
        abort_association(client.peer->so);
    }
    /* After an ABORT of its own usrsctp wakes no reader. "wait": the other end ends it. */
    if (client.peer->ended == NULL || strcmp(client.peer->ended, "own abort") != 0)
        pthread_join(thread, NULL);
    else
        usleep(200000);
    printf("{\"stack\":\"usrsctp\",\"role\":\"connect\",\"sent\":%u,\"echoed\":%u,\"bad\":%u,"
           "\"interleaving\":%s,\"resets_out\":%d,\"abandoned\":%d,\"last_came\":%s,"
           "\"ended\":\"%s\"}\n",
           client.sent, client.echoed, client.bad, client.peer->interleaving ? "true" : "false",
           client.peer->resets_out, client.peer->abandoned, client.last_came ? "true" : "false",
           client.peer->ended);
    fflush(stdout);
    /* A peer that has not heard of the end is still answered. */
    while (set.linger)
        pause();
}

static void usage(void)
{
    fprintf(stderr,
            "peer serve|connect --udp PORT [--remote-udp PORT] [--port SCTP-PORT]\n"
            "  [--count N] [--size BYTES] [--streams K] [--window N] [--unordered]\n"
            "  [--interleave] [--max-rtx N] [--ttl MS] [--reset]\n"
            "  [--end shutdown|abort|wait] [--end-after N] [--rto-max MS] [--assoc-max-rtx N]\n"
            "  [--linger]\n");
    exit(2);
}

static void parse(int argc, char **argv)
{
    static const struct option options[] = {
        {"udp", 1, 0, 'u'},         {"remote-udp", 1, 0, 'r'},    {"port", 1, 0, 'p'},
        {"count", 1, 0, 'c'},       {"size", 1, 0, 's'},          {"streams", 1, 0, 'k'},
        {"window", 1, 0, 'w'},      {"unordered", 0, 0, 'U'},     {"interleave", 0, 0, 'I'},
        {"max-rtx", 1, 0, 'x'},     {"ttl", 1, 0, 't'},           {"reset", 0, 0, 'R'},
        {"end", 1, 0, 'e'},         {"end-after", 1, 0, 'a'},     {"rto-max", 1, 0, 'm'},
        {"assoc-max-rtx", 1, 0, 'M'}, {"linger", 0, 0, 'L'},      {0, 0, 0, 0}};
    if (argc < 2)
        usage();
    set.serve = strcmp(argv[1], "serve") == 0;
    int option;
    optind = 2;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        uint32_t n = optarg ? (uint32_t)strtoul(optarg, NULL, 10) : 0;
        switch (option) {
        case 'u': set.udp = (uint16_t)n; break;
        case 'r': set.remote_udp = (uint16_t)n; break;
        case 'p': set.port = (uint16_t)n; break;
        case 'c': set.count = n; break;
        case 's': set.size = n; break;
        case 'k': set.streams = n; break;
        case 'w': set.window = n; break;
        case 'U': set.unordered = 1; break;
        case 'I': set.interleave = 1; break;
        case 'x': set.max_rtx = (int)n; break;
        case 't': set.ttl_ms = (int)n; break;
        case 'R': set.reset = 1; break;
        case 'L': set.linger = 1; break;
        case 'e': set.end = optarg; break;
        case 'a': set.end_after = n; break;
        case 'm': set.rto_max_ms = n; break;
        case 'M': set.assoc_max_rtx = n; break;
        default: usage();
        }
    }
    if (set.udp == 0 || (!set.serve && set.remote_udp == 0) || set.size == 0 ||
        set.size > LARGEST || set.streams == 0 || set.streams > MAX_STREAMS)
        usage();
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    usrsctp_init(set.udp, NULL, NULL);
    usrsctp_sysctl_set_sctp_blackhole(0);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    if (set.serve)
        serve();
    else
        connect_and_run();
    return 0;
}
