package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"

	"latchkey/client"
	"latchkey/internal/policy/deploy"
)

type policyApplyCommand struct {
	policyFiles
	Yes   bool `help:"Do not ask before anything is sent."`
	Prune bool `help:"Delete the policies and velocity controls of the organization that no file has."`
}

// Run brings an organization to what the files say.
func (cmd policyApplyCommand) Run(ctx context.Context) error {
	server, plan, err := cmd.plan(ctx, cmd.Prune)
	if err != nil {
		return err
	}
	if len(plan.Steps) > 0 {
		if !cmd.Yes && !confirmed() {
			return exitStatus(policyInvalid)
		}
		if err := apply(ctx, server, plan); err != nil {
			return err
		}
	}
	if len(plan.Extra) > 0 {
		fmt.Printf("what is in no file stays: %d; --prune deletes it\n", len(plan.Extra))
		return exitStatus(policyDifferent)
	}
	return nil
}

// confirmed asks on a terminal. Elsewhere no answer could be meant.
func confirmed() bool {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		fmt.Fprintln(os.Stderr, "latchkey: nothing was sent: there is no terminal to ask on; --yes sends without asking")
		return false
	}
	fmt.Print("Send these changes? [y/N] ")
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err == nil && (answer == "y" || answer == "yes") {
		return true
	}
	fmt.Fprintln(os.Stderr, "latchkey: nothing was sent")
	return false
}

// apply does the steps in their order, up to the first that is refused. What
// waits for votes does not stop it.
func apply(ctx context.Context, server *client.Client, plan *deploy.Plan) error {
	sent, err := waitingChanges(ctx, server)
	if err != nil {
		return err
	}
	var waiting, held []string
	for i := range plan.Steps {
		step := &plan.Steps[i]
		outcome, err := sent.do(ctx, server, changeOf(step), len(waiting) > 0)
		if err != nil {
			fmt.Printf("failed  %s\n", step)
			for j := range plan.Steps[i+1:] {
				fmt.Printf("not sent  %s\n", &plan.Steps[i+1+j])
			}
			return stopped(err)
		}
		fmt.Printf("%s  %s\n", outcome, step)
		switch outcome {
		case stepWaits:
			waiting = append(waiting, step.String())
		case stepHeld:
			held = append(held, step.String())
		}
	}
	if len(held) > 0 {
		fmt.Printf("held back, because it would take effect before what waits: %d; run the same command again when that is approved\n", len(held))
	}
	if len(waiting)+len(held) > 0 {
		return exitStatus(policyDifferent)
	}
	return nil
}

// stopped says why, and that running again goes on.
func stopped(err error) error {
	var status exitStatus
	err = refused(err)
	const again = "latchkey: the same command goes on from here: what is done is not done twice"
	if !errors.As(err, &status) {
		return fmt.Errorf("whether it was done is not known: %w\n%s", err, again)
	}
	fmt.Fprintln(os.Stderr, again)
	return err
}

// change is the activity that does a step.
type change struct {
	operation, activityType string
	parameters              any
}

// The types in which changes are sent.
const (
	typeCreatePolicy = "ACTIVITY_TYPE_CREATE_POLICY_V3"
	typeUpdatePolicy = "ACTIVITY_TYPE_UPDATE_POLICY_V2"
	typeDeletePolicy = "ACTIVITY_TYPE_DELETE_POLICY"

	typeCreateControl = "ACTIVITY_TYPE_CREATE_VELOCITY_CONTROL"
	typeDeleteControl = "ACTIVITY_TYPE_DELETE_VELOCITY_CONTROL"
)

func changeOf(s *deploy.Step) change {
	switch {
	case s.Control != nil && s.Action == deploy.Create:
		return change{"create_velocity_control", typeCreateControl, s.Control.CreateVelocityControlParams}
	case s.Control != nil:
		return change{"delete_velocity_control", typeDeleteControl, map[string]string{"velocityControlId": s.Control.ID}}
	}
	p := s.Policy()
	switch s.Action {
	case deploy.Create:
		return change{"create_policy", typeCreatePolicy, client.CreatePolicyParameters{
			PolicyName: p.Name, Effect: client.Effect(p.Effect), Condition: p.Condition, Consensus: p.Consensus, Time: p.Time, Notes: p.Notes,
		}}
	case deploy.Delete:
		return change{"delete_policy", typeDeletePolicy, client.DeletePolicyParameters{PolicyID: p.ID}}
	default:
		update := client.UpdatePolicyParameters{PolicyID: p.ID}
		for _, c := range s.Changes() {
			switch c.Member {
			case "effect":
				update.PolicyEffect = client.Effect(p.Effect)
			case "condition":
				update.PolicyCondition = &p.Condition
			case "consensus":
				update.PolicyConsensus = &p.Consensus
			case "time":
				update.Time = &p.Time
			case "notes":
				update.PolicyNotes = &p.Notes
			}
		}
		return change{"update_policy", typeUpdatePolicy, update}
	}
}

// What became of a step.
const (
	stepDone  = "done"
	stepWaits = "waits"
	stepHeld  = "held"
)

// waitingActivities are changes of policies that wait for votes, by what they ask
// for.
type waitingActivities map[string]*client.Activity

// waitingChanges finds what was sent before and waits, so that it is not sent
// twice.
func waitingChanges(ctx context.Context, server *client.Client) (waitingActivities, error) {
	const page = 100
	all := waitingActivities{}
	options := &client.Pagination{Limit: page}
	for {
		reply, err := server.ListActivities(ctx, client.ListActivitiesRequest{
			FilterByStatus: []client.ActivityStatus{client.ActivityStatusConsensusNeeded},
			FilterByType:   []string{typeCreatePolicy, typeUpdatePolicy, typeDeletePolicy, typeCreateControl, typeDeleteControl}, PaginationOptions: options,
		})
		if err != nil {
			return nil, refused(err)
		}
		for i, a := range reply.Activities {
			options.After = a.ID
			var intent map[string]jsontext.Value
			if err := json.Unmarshal(a.Intent, &intent); err != nil {
				return nil, fmt.Errorf("reading activity %s: %w", a.ID, err)
			}
			for _, parameters := range intent {
				if err := parameters.Canonicalize(); err != nil {
					return nil, fmt.Errorf("reading activity %s: %w", a.ID, err)
				}
				all[a.Type+string(parameters)] = &reply.Activities[i]
			}
		}
		if len(reply.Activities) == 0 {
			return all, nil
		}
	}
}

// do sends a change, unless it waits already. If others wait, it is sent only if it
// will wait, too: else it would take effect before them.
func (w waitingActivities) do(ctx context.Context, server *client.Client, c change, othersWait bool) (string, error) {
	text, err := json.Marshal(c.parameters)
	if err != nil {
		return "", err
	}
	parameters := jsontext.Value(text)
	if err := parameters.Canonicalize(); err != nil {
		return "", err
	}
	if a := w[c.activityType+string(parameters)]; a != nil {
		showPending(ctx, server, a)
		return stepWaits, nil
	}
	if othersWait {
		would, err := server.Explain(ctx, client.ExplainRequest{Type: c.activityType, Parameters: parameters})
		if err != nil {
			return "", err
		}
		if would.Outcome == client.ExplainReplyOutcomeAllow {
			return stepHeld, nil
		}
	}
	a, err := server.Submit(ctx, c.operation, c.activityType, parameters)
	if err != nil {
		return "", err
	}
	var pending *client.PendingError
	switch err := a.Err(); {
	case errors.As(err, &pending):
		showPending(ctx, server, a)
		return stepWaits, nil
	case err != nil:
		fmt.Fprintf(os.Stderr, "latchkey: %v\n", err)
		return "", exitStatus(policyRefused)
	}
	return stepDone, nil
}
