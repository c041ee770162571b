package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/policy/policytest"
	"latchkey/internal/request/engine"
	"latchkey/internal/schema"
)

type policyBacktestCommand struct {
	policyFiles
	Since string `placeholder:"AGE" help:"How far to look back: 30d, 12h, or a time (RFC 3339). Default: to the first activity."`
	Brief bool   `help:"Leave the explanations out."`
	JSON  bool   `name:"json" help:"Print JSON, for programs."`
}

// Run decides recorded activities again by the policies of files.
func (cmd policyBacktestCommand) Run(ctx context.Context) error {
	since, err := sinceMs(cmd.Since, time.Now())
	if err != nil {
		return invalid(err)
	}
	server, err := cmd.client()
	if err != nil {
		return err
	}
	policies, controls, err := supposedByFiles(ctx, server, false, cmd.Files...)
	if err != nil {
		return err
	}
	all, err := cmd.pages(ctx, server, &engine.BacktestRequest{SinceMs: since, Policies: policies, VelocityControls: controls})
	if err != nil {
		return err
	}
	if cmd.JSON {
		if err := printJSON(struct {
			Examined  int32               `json:"examined"`
			Skipped   int32               `json:"skipped"`
			Different []engine.Difference `json:"different"`
		}{all.Examined, all.Skipped, all.Different}); err != nil {
			return err
		}
	} else {
		fmt.Printf("%d activities decided again, %d of them otherwise; %d cannot be decided again\n", all.Examined, len(all.Different), all.Skipped)
	}
	if len(all.Different) > 0 {
		return exitStatus(policyDifferent)
	}
	return nil
}

// pages asks for page after page, and shows each as it comes.
func (cmd *policyBacktestCommand) pages(ctx context.Context, server *client.Client, asked *engine.BacktestRequest) (*engine.BacktestReply, error) {
	all := &engine.BacktestReply{Different: []engine.Difference{}}
	asked.PaginationOptions.Limit = schema.Uint64(100)
	for {
		body, err := server.QueryBody(asked)
		if err != nil {
			return nil, err
		}
		answer, err := server.Post(ctx, "/latchkey/v1/backtest", body)
		if err != nil {
			return nil, refused(err)
		}
		var page engine.BacktestReply
		if err := json.Unmarshal(answer, &page); err != nil {
			return nil, fmt.Errorf("the reply is not one of this version: %w", err)
		}
		all.Examined += page.Examined
		all.Skipped += page.Skipped
		all.Different = append(all.Different, page.Different...)
		for i := range page.Different {
			if err := cmd.show(&page.Different[i]); err != nil {
				return nil, err
			}
		}
		if !page.PageInfo.HasNextPage {
			return all, nil
		}
		asked.PaginationOptions.After = page.PageInfo.EndCursor
	}
}

func (cmd *policyBacktestCommand) show(d *engine.Difference) error {
	if cmd.JSON {
		return nil
	}
	fmt.Printf("%s -> %s  %s %s, %s\n", d.Before, d.After, d.ActivityID, d.Type, d.Status.Word())
	if cmd.Brief {
		return nil
	}
	for _, e := range []struct {
		title string
		reply *engine.ExplainReply
	}{{"now", &d.Explanation.Before}, {"with the files", &d.Explanation.After}} {
		var b strings.Builder
		if err := policytest.PrintReply(&b, e.reply); err != nil {
			return err
		}
		fmt.Printf("  %s\n    %s\n", e.title, strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", "\n    "))
	}
	return nil
}

// sinceMs reads an age or a time; none is empty.
func sinceMs(text string, now time.Time) (string, error) {
	if text == "" {
		return "", nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return strconv.FormatInt(max(at.UnixMilli(), 0), 10), nil
	}
	age, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		age = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || age < 0 {
		return "", fmt.Errorf("--since %s: give an age, such as 30d or 12h, or a time, such as 2026-11-15T12:00:00Z", text)
	}
	return strconv.FormatInt(max(now.Add(-age).UnixMilli(), 0), 10), nil
}
