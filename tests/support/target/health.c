/* health: the smallest gRPC health server.
 *
 *     health PORT
 *
 * Listens on 0.0.0.0:PORT and answers every call SERVING. It reads HTTP/2 frames and understands no header: whoever asks
 * it asks grpc.health.v1.Health/Check. Static and without a library, so that it runs in an image that has nothing.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  PREFACE = 24,        /* octets of "PRI * HTTP/2.0 ..." */
  HEAD = 9,            /* octets before a frame's payload */
  PAYLOAD_MAX = 16384, /* SETTINGS_MAX_FRAME_SIZE nobody raised */
};
enum { DATA = 0, HEADERS = 1, SETTINGS = 4, PING = 6 };
enum { ACK = 1, END_STREAM = 1, END_HEADERS = 4 };

static bool read_all(int fd, void *into, size_t size) {
  for (size_t got = 0; got < size;) {
    ssize_t n = read(fd, (char *)into + got, size - got);
    if (n <= 0) return false;
    got += (size_t)n;
  }
  return true;
}

static void send_frame(int fd, int type, int flags, uint32_t stream, const void *payload, size_t size) {
  unsigned char frame[HEAD + 128] = {0, (unsigned char)(size >> 8), (unsigned char)size, (unsigned char)type,
                                     (unsigned char)flags};
  uint32_t id = htonl(stream);
  memcpy(frame + 5, &id, sizeof id);
  memcpy(frame + HEAD, payload, size);
  if (write(fd, frame, HEAD + size) < 0) exit(0);
}

static void answer(int fd, uint32_t stream) {
  /* :status 200 is index 8 of HPACK's static table; the names below are literals without indexing. */
  static const char headers[] = "\x88\x00\x0c" "content-type" "\x10" "application/grpc";
  static const char serving[] = {0, 0, 0, 0, 2, 0x08, 0x01};
  static const char trailers[] = "\x00\x0bgrpc-status\x01" "0";
  send_frame(fd, HEADERS, END_HEADERS, stream, headers, sizeof headers - 1);
  send_frame(fd, DATA, 0, stream, serving, sizeof serving);
  send_frame(fd, HEADERS, END_HEADERS | END_STREAM, stream, trailers, sizeof trailers - 1);
}

static void serve(int fd) {
  unsigned char head[HEAD], payload[PAYLOAD_MAX];
  if (!read_all(fd, payload, PREFACE)) return;
  send_frame(fd, SETTINGS, 0, 0, "", 0);
  while (read_all(fd, head, HEAD)) {
    size_t size = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    uint32_t stream;
    memcpy(&stream, head + 5, sizeof stream);
    if (size > PAYLOAD_MAX || !read_all(fd, payload, size)) return;
    if (head[3] == SETTINGS && !(head[4] & ACK)) send_frame(fd, SETTINGS, ACK, 0, "", 0);
    if (head[3] == PING && !(head[4] & ACK)) send_frame(fd, PING, ACK, 0, payload, size);
    if (head[3] <= HEADERS && head[4] & END_STREAM) answer(fd, ntohl(stream));
  }
}

static void on_term(int signal) {
  (void)signal;
  _exit(0);
}

int main(int argc, char **argv) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(argc == 2 ? atoi(argv[1]) : 0))};
  int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
  if (argc != 2) {
    fprintf(stderr, "usage: health PORT\n");
    return 2;
  }
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 64) < 0) {
    perror("health");
    return 3;
  }
  signal(SIGCHLD, SIG_IGN);
  signal(SIGTERM, on_term);
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    if (fd >= 0 && fork() == 0) {
      serve(fd);
      return 0;
    }
    close(fd);
  }
}
