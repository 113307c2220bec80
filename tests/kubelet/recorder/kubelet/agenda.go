package kubelet

import (
	"slices"
	"testing/synctest"
	"time"
)

// agenda has what the glue does later, in the order of time; what is due together keeps its order.
type agenda struct {
	tasks []task
	// grown wakes the scenario, which sleeps until its next task.
	grown chan struct{}
}

type task struct {
	ms int64
	do func()
}

func newAgenda() agenda { return agenda{grown: make(chan struct{}, 1)} }

func (a *agenda) add(ms int64, do func()) {
	later := slices.IndexFunc(a.tasks, func(t task) bool { return t.ms > ms })
	if later < 0 {
		later = len(a.tasks)
	}
	a.tasks = slices.Insert(a.tasks, later, task{ms, do})
	select {
	case a.grown <- struct{}{}:
	default:
	}
}

// until plays on until that moment, with all that is due then. Workers come before the tasks of their moment.
func (g *glue) until(ms int64) {
	for {
		synctest.Wait()
		next := ms
		if len(g.agenda.tasks) > 0 {
			next = min(next, g.agenda.tasks[0].ms)
		}
		if g.now() < next {
			timer := time.NewTimer(time.Until(g.at(next)))
			select {
			case <-timer.C:
			case <-g.agenda.grown:
				timer.Stop()
			}
			continue
		}
		if len(g.agenda.tasks) == 0 || g.agenda.tasks[0].ms > g.now() {
			return
		}
		do := g.agenda.tasks[0].do
		g.agenda.tasks = g.agenda.tasks[1:]
		g.turn(do)
	}
}
