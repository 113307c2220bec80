/* `nmeter -d0 %3t` of busybox, which Debian's busybox lacks: the time of day with milliseconds. */
#include <stdio.h>
#include <time.h>

int main(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	time_t day = now.tv_sec % 86400;
	printf("%02d:%02d:%02d.%03d\n", (int)(day / 3600), (int)(day / 60 % 60), (int)(day % 60),
	       (int)(now.tv_nsec / 1000000));
	return 0;
}
