/* target: one small epoll program that plays every target a probe may meet.
 *
 *     target [ADDRESS]:PORT [BEHAVIOUR[@SECONDS]]...
 *
 * Without ADDRESS it listens on $POD_IP, or else on 0.0.0.0, which on loopback is every 127.x.y.z at once. Port 0 picks
 * one. The first line of its output is "listening on ADDRESS:PORT".
 *
 * The behaviours are a schedule: each holds from its second after the start until the next one ("refuse ok@5" is a slow
 * start, "ok deadlock@14" a service that hangs one day). The default is "ok".
 *
 *     ok            answers 200
 *     status=N      answers N
 *     delay=MS      answers 200 after MS milliseconds
 *     hang          accepts and reads, never answers
 *     eof           accepts, reads and closes
 *     refuse        does not listen
 *     deadlock      the process stands still: the kernel still accepts, nobody answers
 *     crash=N       exits with code N (crash alone: 1)
 *     ignore-term   from now on SIGTERM does nothing (not part of the schedule; otherwise SIGTERM exits 0)
 *     period=MS     the period that /stats measures lateness against, 1000 unless given (not part of the schedule)
 *
 * GET /stats tells when connections were accepted, per pod: how late each was against the grid of the pod's own period,
 * and the same of the first byte of each request (null where there were no requests).
 * Probes that come in step are a burst, which a quarter of a period without any ends; burst_ms is how long it took.
 * A pod is the destination address (127.1.0.0 upwards) or, before that, the N of the path /p/N. GET /reset forgets.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  PHASES_MAX = 16,      /* longer schedules are a mistake */
  PODS_MAX = 1 << 18,   /* 127.1.0.0 to 127.4.255.255 */
  SAMPLES_MAX = 4096,   /* per pod: more than an hour at 1 s; later ones are counted, not kept */
  CONNECTIONS_MAX = 1 << 20,
  BURSTS_MAX = 1024,    /* a quarter of an hour at 1 s */
  BACKLOG = 4096,       /* a burst of 5,000 probes must not meet a full accept queue before we run */
};

enum behaviour { OK, STATUS, DELAY, HANG, END, REFUSE, DEADLOCK, CRASH };
static const char *const NAMES[] = {"ok", "status", "delay", "hang", "eof", "refuse", "deadlock", "crash"};

struct phase { enum behaviour behaviour; int value; double at; };
struct moments { int64_t *at; int samples, room; };
struct pod { struct moments accepted, first_byte; };
struct connection { int64_t accepted; int pod; };
struct delayed { int fd; int64_t due; };

static struct phase phases[PHASES_MAX];
static int phase_count, phase_now;
static struct pod *pods;
static struct connection *connections;
static struct delayed *queue; /* a ring: the delay of a phase is constant, so the order of arrival is that of answers */
static uint32_t queue_head, queue_tail;
static int64_t burst_first, burst_last, bursts[BURSTS_MAX]; /* of the burst that is on, and how long those before took */
static int burst_count;
static uint64_t seen, accepted; /* probes read, connections accepted */
static int64_t started, period_ns = 1000000000;
static struct sockaddr_in address = {.sin_family = AF_INET};
static int epoll, listener = -1;
static char reply[128];
static int reply_length;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void die(const char *what) {
  perror(what);
  exit(3);
}

static void on_term(int signal) {
  (void)signal;
  _exit(0);
}

/* Statistics */

static void record_burst(int64_t at) {
  if (burst_last && at - burst_last > period_ns / 4) {
    if (burst_count < BURSTS_MAX) bursts[burst_count++] = burst_last - burst_first;
    burst_last = 0;
  }
  if (!burst_last) burst_first = at;
  if (at > burst_last) burst_last = at;
}

static void note(struct moments *m, int64_t at) {
  if (m->samples == SAMPLES_MAX) return;
  if (m->samples == m->room) {
    m->room = m->room ? m->room * 2 : 16;
    m->at = realloc(m->at, sizeof(int64_t) * (size_t)m->room);
    if (!m->at) die("realloc");
  }
  m->at[m->samples++] = at;
}

/* Once per connection: a request that hangs and then ends has been counted already. first_byte is 0 without a request. */
static void record(struct connection *c, int pod, int64_t first_byte) {
  int64_t at = c->accepted;
  if (!at) return;
  c->accepted = 0;
  seen++;
  record_burst(at);
  if (pod < 0 || pod >= PODS_MAX) return;
  note(&pods[pod].accepted, at);
  if (first_byte) note(&pods[pod].first_byte, first_byte);
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* How late each moment of a pod was. The grid is the pod's own: its earliest moment, modulo the period, is on time.
 * Returns how many periods went by without one. */
static int64_t lateness(const struct moments *m, int64_t *late) {
  int64_t earliest = 0, first = m->at[0];
  for (int i = 0; i < m->samples; i++) {
    int64_t since = m->at[i] - first;
    late[i] = since - (since + period_ns / 2) / period_ns * period_ns;
    if (late[i] < earliest) earliest = late[i];
  }
  for (int i = 0; i < m->samples; i++) late[i] -= earliest;
  int64_t expected = (m->at[m->samples - 1] - first + period_ns / 2) / period_ns + 1;
  return expected > m->samples ? expected - m->samples : 0;
}

struct summary { size_t pods, samples; int64_t missed; char late[128]; };

/* The lateness of one kind of moment over all pods. */
static void summarise(struct summary *s, bool of_first_byte) {
  size_t samples = 0;
  *s = (struct summary){0};
  for (int i = 0; i < PODS_MAX; i++)
    samples += (size_t)(of_first_byte ? pods[i].first_byte : pods[i].accepted).samples;
  int64_t *late = malloc(sizeof(int64_t) * (samples + 1));
  if (!late) die("malloc");
  for (int i = 0; i < PODS_MAX; i++) {
    const struct moments *m = of_first_byte ? &pods[i].first_byte : &pods[i].accepted;
    if (m->samples < 3) continue; /* two points make no grid */
    s->missed += lateness(m, late + s->samples);
    s->samples += (size_t)m->samples;
    s->pods++;
  }
  qsort(late, s->samples, sizeof *late, ascending);
#define MS(q) (s->samples ? (double)late[(size_t)((double)(s->samples - 1) * (q))] / 1e6 : 0.0)
  snprintf(s->late, sizeof s->late, "{\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,\"max\":%.3f}", MS(.5), MS(.9), MS(.99),
           MS(1.0));
#undef MS
  free(late);
}

static int statistics(char *out, size_t size) {
  struct summary accepts, first_bytes;
  summarise(&accepts, false);
  summarise(&first_bytes, true);
  qsort(bursts, (size_t)burst_count, sizeof *bursts, ascending);
  return snprintf(out, size,
                  "{\"schema\":\"probelet-target/1\",\"accepted\":%lu,\"probes\":%lu,\"pods\":%zu,\"samples\":%zu,"
                  "\"missed\":%ld,\"lateness_ms\":%s,\"first_byte_lateness_ms\":%s,\"burst_ms\":%.3f}",
                  (unsigned long)accepted, (unsigned long)seen, accepts.pods, accepts.samples, (long)accepts.missed,
                  accepts.late, first_bytes.pods ? first_bytes.late : "null",
                  burst_count ? (double)bursts[burst_count / 2] / 1e6 : 0.0);
}

static void forget(void) {
  seen = accepted = 0;
  burst_last = burst_count = 0;
  for (int i = 0; i < PODS_MAX; i++) pods[i].accepted.samples = pods[i].first_byte.samples = 0;
}

/* Connections */

static void set_reply(int status) {
  const char *text = status == 200 ? "OK" : "Status";
  reply_length = snprintf(reply, sizeof reply,
                          "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
                          status, text);
}

static void answer(int fd, const char *text, int length) {
  if (write(fd, text, (size_t)length) < 0 && errno != EPIPE && errno != ECONNRESET) perror("write");
  close(fd);
}

static void answer_command(int fd, const char *request) {
  char body[1024] = "{}", page[1280];
  int length = 2;
  if (!strncmp(request, "GET /stats", 10)) length = statistics(body, sizeof body);
  else forget();
  int n = snprintf(page, sizeof page, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", length, body);
  answer(fd, page, n);
}

static void answer_probe(int fd) {
  switch (phases[phase_now].behaviour) {
  case HANG:
    return;
  case END:
    close(fd);
    return;
  case DELAY: /* the queue owns it now, whatever the client does meanwhile */
    epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
    queue[queue_tail++ % CONNECTIONS_MAX] =
        (struct delayed){fd, now() + phases[phase_now].value * 1000000LL};
    return;
  default:
    answer(fd, reply, reply_length);
  }
}

/* Returns false when nothing could be read yet. */
static bool serve(int fd) {
  char request[4096];
  ssize_t n = read(fd, request, sizeof request - 1);
  if (n < 0 && errno == EAGAIN) return false;
  struct connection *c = &connections[fd];
  if (n <= 0) { /* a TCP probe: connect and close */
    if (n == 0) record(c, c->pod, 0);
    close(fd);
    return true;
  }
  request[n] = 0;
  if (!strncmp(request, "GET /stats", 10) || !strncmp(request, "GET /reset", 10)) {
    answer_command(fd, request);
    return true;
  }
  record(c, c->pod >= 0 || strncmp(request, "GET /p/", 7) ? c->pod : atoi(request + 7), now());
  answer_probe(fd);
  return phases[phase_now].behaviour != HANG;
}

static void watch(int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) die("epoll_ctl");
}

static void accept_all(void) {
  for (;;) {
    struct sockaddr_in local = {0};
    socklen_t length = sizeof local;
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    accepted++;
    getsockname(fd, (struct sockaddr *)&local, &length);
    uint32_t host = ntohl(local.sin_addr.s_addr) & 0xffffff;
    connections[fd] = (struct connection){now(), host >= 0x10000 ? (int)(host - 0x10000) : -1};
    if (!serve(fd)) watch(fd); /* the request is often there already, which saves a turn of the loop */
  }
}

static void answer_delayed(void) {
  int64_t at = now();
  while (queue_head != queue_tail && queue[queue_head % CONNECTIONS_MAX].due <= at)
    answer(queue[queue_head++ % CONNECTIONS_MAX].fd, reply, reply_length);
}

/* The schedule */

static void start_listening(void) {
  int on = 1;
  socklen_t length = sizeof address;
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0) die("socket");
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, BACKLOG)) die("bind");
  getsockname(listener, (struct sockaddr *)&address, &length);
  printf("listening on %s:%d\n", inet_ntoa(address.sin_addr), ntohs(address.sin_port));
  fflush(stdout);
  watch(listener);
}

static void enter(const struct phase *phase) {
  if (phase->behaviour == CRASH) exit(phase->value);
  if (phase->behaviour == DEADLOCK)
    for (;;) pause();
  if (phase->behaviour == REFUSE) {
    if (listener >= 0) close(listener);
    listener = -1;
  } else if (listener < 0) {
    start_listening();
  }
  set_reply(phase->behaviour == STATUS ? phase->value : 200);
}

/* Milliseconds until something is due, -1 for never. */
static int wait_ms(void) {
  int64_t due = INT64_MAX;
  if (phase_now + 1 < phase_count) due = started + (int64_t)(phases[phase_now + 1].at * 1e9);
  if (queue_head != queue_tail && queue[queue_head % CONNECTIONS_MAX].due < due)
    due = queue[queue_head % CONNECTIONS_MAX].due;
  if (due == INT64_MAX) return -1;
  int64_t left = due - now();
  return left <= 0 ? 0 : (int)(left / 1000000 + 1);
}

static void run(void) {
  struct epoll_event events[512];
  enter(&phases[0]);
  for (;;) {
    int n = epoll_wait(epoll, events, 512, wait_ms());
    for (int i = 0; i < n; i++) {
      if (events[i].data.fd == listener) accept_all();
      else serve(events[i].data.fd);
    }
    answer_delayed();
    while (phase_now + 1 < phase_count && now() >= started + (int64_t)(phases[phase_now + 1].at * 1e9))
      enter(&phases[++phase_now]);
  }
}

/* The command line */

static void refuse_argument(const char *argument) {
  fprintf(stderr, "target: cannot use %s; usage: target [ADDRESS]:PORT [BEHAVIOUR[@SECONDS]]...\n", argument);
  exit(2);
}

static void parse_behaviour(const char *argument) {
  char name[32];
  struct phase phase = {OK, 0, 0};
  const char *at = strchr(argument, '@'), *value = strchr(argument, '=');
  size_t length = strcspn(argument, "=@");
  if (length >= sizeof name || phase_count == PHASES_MAX - 1) refuse_argument(argument);
  memcpy(name, argument, length);
  name[length] = 0;
  if (at) phase.at = atof(at + 1);
  if (!strcmp(name, "ignore-term")) {
    signal(SIGTERM, SIG_IGN);
    return;
  }
  if (!strcmp(name, "period") && value) {
    period_ns = atoi(value + 1) * 1000000LL;
    return;
  }
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (strcmp(name, NAMES[i])) continue;
    phase.behaviour = (enum behaviour)i;
    phase.value = value ? atoi(value + 1) : i == CRASH;
    phases[phase_count++] = phase;
    return;
  }
  refuse_argument(argument);
}

static void parse_address(const char *argument) {
  const char *colon = strrchr(argument, ':'), *pod_ip = getenv("POD_IP");
  char host[64] = "0.0.0.0";
  if (!colon || colon - argument >= (long)sizeof host) refuse_argument(argument);
  if (colon != argument) {
    memcpy(host, argument, (size_t)(colon - argument));
    host[colon - argument] = 0;
  } else if (pod_ip && *pod_ip) {
    snprintf(host, sizeof host, "%s", pod_ip);
  }
  char *rest;
  long port = strtol(colon + 1, &rest, 10);
  if (rest == colon + 1 || *rest || port < 0 || port > 65535) refuse_argument(argument);
  address.sin_port = htons((uint16_t)port);
  if (inet_pton(AF_INET, host, &address.sin_addr) != 1) refuse_argument(argument);
}

int main(int argc, char **argv) {
  struct rlimit files;
  if (argc < 2) refuse_argument("nothing");
  started = now();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, on_term);
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max < CONNECTIONS_MAX ? files.rlim_max : CONNECTIONS_MAX;
  setrlimit(RLIMIT_NOFILE, &files);
  parse_address(argv[1]);
  for (int i = 2; i < argc; i++) parse_behaviour(argv[i]);
  if (!phase_count || phases[0].at > 0) { /* until the first one is due, the target is well */
    memmove(phases + 1, phases, sizeof *phases * (size_t)(PHASES_MAX - 1));
    phases[0] = (struct phase){OK, 0, 0};
    phase_count++;
  }
  pods = calloc(PODS_MAX, sizeof *pods); /* untouched pages cost nothing */
  connections = calloc(CONNECTIONS_MAX, sizeof *connections);
  queue = calloc(CONNECTIONS_MAX, sizeof *queue);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  if (!pods || !connections || !queue || epoll < 0) die("start");
  run();
}
