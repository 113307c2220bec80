package kubelet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	remote "k8s.io/cri-client/pkg"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	utilexec "k8s.io/utils/exec"
)

const runtimeError = "rpc error: code = Unknown desc = scripted runtime error"

// A run tries three times if attempts error; the attempt after them is the first of another run.
const tries = 3

// runtime answers exec calls from the scripts.
type runtime struct{ play *play }

func (r runtime) RunInContainer(
	_ context.Context, id kubecontainer.ContainerID, command []string, timeout time.Duration,
) ([]byte, error) {
	key := strings.Join(command[1:4], "/")
	number, attempt := r.play.begin(key)
	outcome := r.play.outcome(key, number)
	kind, takes := outcome.Outcome, r.play.defaultDelay[key]
	if outcome.DelayMs != nil {
		takes = *outcome.DelayMs
	}
	if kind == "hang" {
		kind, takes = "success", outcome.HangMs
		if takes >= timeout.Milliseconds() && !outcome.IgnoreTimeout {
			kind = "timeout"
		}
	}
	if kind == "timeout" {
		takes = timeout.Milliseconds()
	}
	probe := line{"t_ms": r.play.now(), "pod": command[1], "container": command[2], "type": command[3],
		"container_id": id.String(), "n": number + 1, "attempt": attempt, "outcome": kind,
		"timeout_s": int(timeout.Seconds())}
	if len(command) > 4 {
		probe["extra_args"] = command[4:]
	}
	time.Sleep(time.Duration(takes) * time.Millisecond)
	probe["end_ms"] = r.play.now()
	r.play.end(key, kind, probe)
	output := []byte(strings.Repeat(outcome.Output, max(outcome.OutputRepeat, 1)))
	switch {
	case kind == "failure" || outcome.ExitCode != nil:
		code := 1
		if outcome.ExitCode != nil {
			code = *outcome.ExitCode
		}
		return output, utilexec.CodeExitError{Err: errors.New("exit"), Code: code}
	case kind == "error" && outcome.Error != "":
		return nil, errors.New(outcome.Error)
	case kind == "error":
		return nil, errors.New(runtimeError)
	case kind == "timeout":
		quoted := strings.Join(command, " ")
		return output, fmt.Errorf("%w: %q timed out after %s", remote.ErrCommandTimedOut, quoted, timeout)
	}
	return output, nil
}

// begin counts an attempt of a script; it returns the number of the attempt and of the try within its run.
func (p *play) begin(key string) (number, attempt int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	number = p.begun[key]
	p.begun[key]++
	if p.errored[key] && p.attempt[key] < tries {
		p.attempt[key]++
	} else {
		p.attempt[key] = 1
	}
	return number, p.attempt[key]
}

func (p *play) end(key, kind string, probe line) {
	p.mu.Lock()
	p.errored[key] = kind == "error"
	p.mu.Unlock()
	p.note("probes", probe)
}

// outcome returns the outcome of attempt number in a script. The last outcome repeats for ever; without a script every
// attempt succeeds.
func (p *play) outcome(key string, number int) Outcome {
	found := Outcome{Outcome: "success"}
	for _, found = range p.scenario.Scripts[key] {
		if number -= max(found.Repeat, 1); number < 0 {
			break
		}
	}
	return found
}
