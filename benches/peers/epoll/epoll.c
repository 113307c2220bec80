/* epoll: the practical floor. A raw epoll loop that sends the same probes at the same pace as a prober would, and keeps
 * nothing but the schedule: no thresholds, no results, no messages. It is as frugal as the best prober known here: probes
 * of a millisecond begin together, so that they share a wake-up and wake their targets together, and it sends before it
 * registers the socket, because on one machine a connection exists as soon as connect() returns.
 *
 *     epoll http|tcp --target ADDRESS/BITS:PORT [--faulty ADDRESS/BITS:PORT=PERCENT] [--workers 1000] [--period 1s]
 *          [--duration 10s] [--warm 2s] [--burst] [--exact]
 *
 * With --exact it wakes for each probe. With --burst all workers are due at one moment, and all connect before the first
 * one sends. Worker n probes the n-th address of its target. Says "measuring" and "measured" on stderr when the measured time begins and ends.
 * Prints one JSON object: CPU (user + sys of this process, getrusage) per probe over the measured time, and lateness, the moment of
 * connect against the worker's own schedule.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
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

enum { CONNECTIONS_MAX = 1 << 20, RESPONSE_MAX = 4096 };
static const int64_t SECOND = 1000000000, MILLISECOND = 1000000, TIMEOUT = 1000000000;

/* ADDRESS/BITS:PORT: from the address to the end of its network. */
struct place { uint32_t first, addresses; uint16_t port; };
/* Workers are kept in the order of their phase, so the next due is always the one after the last. */
struct worker { int64_t phase; const struct place *place; uint32_t host; bool healthy; };
/* In flight: a doubly linked list in the order of start, so the first is the first to time out. */
struct connection { int64_t started; int before, after; bool written, healthy; };

static struct place target, faulty;
static int workers = 1000, seconds = 10, warm = 2, faulty_percent;
static int64_t period = 1000000000;
static struct worker *schedule;
static struct connection *connections;
static int oldest = -1, newest = -1, epoll;
static int64_t *late;
static size_t late_count, late_room;
static uint64_t probes, failures;
static bool measuring, exact, burst, tcp;
static char request[256];
static int request_length;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * SECOND + t.tv_nsec;
}

static void die(const char *what) {
  perror(what);
  exit(3);
}

static void unlink_connection(int fd) {
  struct connection *c = &connections[fd];
  if (c->before >= 0) connections[c->before].after = c->after;
  else oldest = c->after;
  if (c->after >= 0) connections[c->after].before = c->before;
  else newest = c->before;
}

static void finish(int fd, bool good) {
  unlink_connection(fd);
  close(fd);
  if (!measuring) return;
  probes++;
  failures += !good && connections[fd].healthy;
}

/* Sends as soon as the connection stands; of a TCP probe nothing, which tells whether it does. True when the probe is over. */
static bool go(int fd) {
  struct connection *c = &connections[fd];
  int length = tcp ? 0 : request_length;
  ssize_t sent = send(fd, request, (size_t)length, MSG_NOSIGNAL);
  if (sent < 0 && errno == EAGAIN) return false;
  c->written = sent == length;
  if (!tcp && c->written) return false;
  finish(fd, c->written);
  return true;
}

static void start(const struct worker *worker, int64_t due) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(worker->place->port)};
  to.sin_addr.s_addr = htonl(worker->host);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) { /* too many probes hang: this one fails, and the next may be luckier */
    if (errno != EMFILE && errno != ENFILE) die("socket");
    if (measuring) probes++, failures += worker->healthy;
    return;
  }
  int64_t at = now();
  if (measuring && late_count < late_room) late[late_count++] = at - due;
  connections[fd] = (struct connection){at, newest, -1, false, worker->healthy};
  if (newest >= 0) connections[newest].after = fd;
  else oldest = fd;
  newest = fd;
  if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0 && errno != EINPROGRESS) {
    finish(fd, false);
    return;
  }
  if (!burst && go(fd)) return;
  /* One registration for the whole life of the connection, edge-triggered, as every modern loop does it. */
  struct epoll_event event = {.events = EPOLLIN | (connections[fd].written ? 0 : EPOLLOUT) | EPOLLET, .data.fd = fd};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) die("epoll_ctl");
}

static void progress(int fd, uint32_t events) {
  struct connection *c = &connections[fd];
  char response[RESPONSE_MAX];
  if (!c->written && events & (EPOLLOUT | EPOLLHUP | EPOLLERR) && go(fd)) return;
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
    ssize_t n = read(fd, response, sizeof response);
    if (n < 0 && errno == EAGAIN) return;
    finish(fd, n > 12 && !memcmp(response + 8, " 200", 4)); /* the answers here come in one piece */
  }
}

static void expire(int64_t at) {
  while (oldest >= 0 && connections[oldest].started + TIMEOUT <= at) finish(oldest, false);
}

/* Takes what comes until a moment. */
static void serve_until(int64_t moment) {
  struct epoll_event events[256];
  for (int64_t left; (left = moment - now()) > 0;) {
    struct timespec timeout = {left / SECOND, left % SECOND};
    int n = epoll_pwait2(epoll, events, 256, &timeout, NULL);
    for (int i = 0; i < n; i++) progress(events[i].data.fd, events[i].events);
  }
}

/* Waits for what is due, and to the end of the millisecond: what is due in it begins together, so each probe is later and
 * costs less. With --exact each probe begins alone. */
static void wait_for(int64_t due) {
  int64_t at = now(), left = due - at;
  if (left > 0) serve_until(exact ? due : at + (left + MILLISECOND - 1) / MILLISECOND * MILLISECOND);
}

static double cpu_seconds(const struct rusage *usage) {
  return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
         (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static int by_phase(const void *a, const void *b) {
  int64_t x = ((const struct worker *)a)->phase, y = ((const struct worker *)b)->phase;
  return x < y ? -1 : x > y;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static void make_schedule(void) {
  srandom(1);
  for (int i = 0; i < workers; i++) {
    bool healthy = i % 100 >= faulty_percent;
    const struct place *place = healthy ? &target : &faulty;
    int64_t phase = burst ? 0 : (int64_t)((double)random() / RAND_MAX * (double)(period - 1));
    schedule[i] = (struct worker){phase, place, place->first + (uint32_t)i % place->addresses, healthy};
  }
  qsort(schedule, (size_t)workers, sizeof *schedule, by_phase);
}

/* Probes from `begin` on for `length` nanoseconds. */
static void probe_for(int64_t begin, int64_t length) {
  for (int64_t round = 0;; round++) {
    for (int i = 0; i < workers; i++) {
      int64_t due = begin + round * period + schedule[i].phase;
      bool over = due >= begin + length;
      int64_t next = over ? begin + length : due;
      wait_for(next);
      if (over) return;
      start(&schedule[i], due);
      expire(now());
    }
  }
}

static void report(double cpu, long wakeups, double elapsed) {
  qsort(late, late_count, sizeof *late, ascending);
#define MS(q) (late_count ? (double)late[(size_t)((double)(late_count - 1) * (q))] / 1e6 : 0.0)
  printf("{\"schema\":\"probelet-bench/1\",\"engine\":\"%s\",\"scenario\":\"%s\",\"workers\":%d,\"probes\":%lu,"
         "\"probes_per_second\":%.1f,\"cpu_us_per_probe\":%.2f,\"false_failures\":%lu,"
         "\"lateness_ms\":{\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f},\"wakeups_per_second\":%.1f}\n",
         exact ? "epoll-exact" : "epoll", tcp ? "tcp" : "http", workers, (unsigned long)probes, (double)probes / elapsed,
         probes ? cpu * 1e6 / (double)probes : 0.0, (unsigned long)failures, MS(.5), MS(.99), MS(1.0),
         (double)wakeups / elapsed);
#undef MS
}

static void usage(void) {
  fprintf(stderr, "usage: epoll http|tcp --target ADDRESS/BITS:PORT [--faulty ADDRESS/BITS:PORT=PERCENT] [--workers N] "
                  "[--period Ns] [--duration Ns] [--warm Ns] [--burst] [--exact]\n");
  exit(2);
}

static struct place parse_place(const char *text) {
  char host[32];
  int bits, port;
  struct in_addr address;
  if (sscanf(text, "%31[0-9.]/%d:%d", host, &bits, &port) != 3 || bits < 1 || bits > 32 || port < 1 || port > 65535 ||
      inet_pton(AF_INET, host, &address) != 1)
    usage();
  uint32_t first = ntohl(address.s_addr), last = first | (uint32_t)((1ULL << (32 - bits)) - 1);
  return (struct place){first, last - first + 1, (uint16_t)port};
}

static void parse(int argc, char **argv) {
  if (argc < 2 || (strcmp(argv[1], "http") && strcmp(argv[1], "tcp"))) usage();
  tcp = !strcmp(argv[1], "tcp");
  for (int i = 2; i < argc; i++) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "", *percent = strrchr(value, '=');
    if (!strcmp(name, "--burst")) burst = true;
    else if (!strcmp(name, "--exact")) exact = true;
    else {
      i++;
      if (!strcmp(name, "--target")) target = parse_place(value);
      else if (!strcmp(name, "--faulty") && percent) faulty = parse_place(value), faulty_percent = atoi(percent + 1);
      else if (!strcmp(name, "--workers")) workers = atoi(value);
      else if (!strcmp(name, "--period")) period = atoi(value) * SECOND;
      else if (!strcmp(name, "--duration")) seconds = atoi(value);
      else if (!strcmp(name, "--warm")) warm = atoi(value);
      else usage();
    }
  }
  if (!target.port || workers < 1 || workers > 1 << 18 || period <= 0 || seconds < 1) usage();
}

int main(int argc, char **argv) {
  struct rlimit files;
  parse(argc, argv);
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max < CONNECTIONS_MAX ? files.rlim_max : CONNECTIONS_MAX;
  setrlimit(RLIMIT_NOFILE, &files);
  schedule = calloc((size_t)workers, sizeof *schedule);
  connections = calloc(CONNECTIONS_MAX, sizeof *connections);
  late_room = (size_t)((double)workers * (double)seconds * 1e9 / (double)period) + (size_t)workers;
  late = malloc(sizeof *late * late_room);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  if (!schedule || !connections || !late || epoll < 0) die("start");
  request_length = snprintf(request, sizeof request,
                            "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nUser-Agent: kube-probe/1.36\r\n"
                            "Accept: */*\r\nConnection: close\r\n\r\n", target.port);
  make_schedule();
  int64_t begin = now();
  probe_for(begin, warm * SECOND);
  fprintf(stderr, "measuring\n");
  measuring = true;
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  begin += warm * SECOND;
  probe_for(begin, seconds * SECOND);
  getrusage(RUSAGE_SELF, &after);
  fprintf(stderr, "measured\n");
  report(cpu_seconds(&after) - cpu_seconds(&before), after.ru_nvcsw - before.ru_nvcsw, (double)(now() - begin) / 1e9);
}
