/* An agent for `exec:./agent`: plays the last of its legal cards.  Build it with: cc -O2 -o agent agent.c */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What follows "key": in a line of JSON whose texts hold neither quotes nor other keys, as is so here. */
static char *value(char *line, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    char *at = strstr(line, quoted);
    return at ? strchr(at, ':') + 1 : NULL;
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        char *id = value(line, "id"), *legal = value(line, "legal");
        if (value(line, "bye"))
            break;
        if (value(line, "hello"))
            puts("{\"name\": \"last\", \"ready\": true}");
        else if (id && legal) {
            char *end = strchr(legal, ']'), *card;
            while (*end != '"') /* the closing quote of the last card */
                end--;
            for (card = end - 1; *card != '"'; card--)
                ;
            printf("{\"id\": %ld, \"action\": %.*s}\n", atol(id), (int)(end - card + 1), card);
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
