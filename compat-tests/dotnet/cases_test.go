package dotnet

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/cases"
)

func proves(ids ...string) []string { return ids }

// further are behaviours of tests that do not say themselves what they prove.
var further = map[string][]string{
	"A_message_is_settled_by_its_token_alone":                                          proves("settle.token"),
	"Properties_of_every_type_are_changed":                                             proves("settle.types"),
	"One_call_returns_at_most_two_hundred_and_fifty":                                   proves("peek.most"),
	"Nothing_is_dead_lettered_twice":                                                   proves("dlq.twice"),
	"Waiting_for_the_next_one_is_cancelled":                                            proves("sess.cancel"),
	"A_session_ends_with_its_connection":                                               proves("sess.connection"),
	"What_was_fetched_ahead_is_free_once_the_session_is_closed":                        proves("sess.prefetch"),
	"Many_sessions_of_a_subscription_are_listed_page_by_page":                          proves("sess.lists"),
	"A_session_that_is_not_held_exclusively_is_refused_as_a_feature_that_is_not_there": proves("sess.nonexclusive"),
	"Without_renewal_the_handler_hears_that_the_lock_is_lost":                          proves("proc.ended"),
	"Receive_and_delete_is_done_before_the_handler_is_called":                          proves("proc.delete"),
	"Messages_are_fetched_ahead":                                                       proves("proc.prefetch"),
	"More_and_fewer_handlers_while_it_runs":                                            proves("proc.change"),
	"A_processor_of_dead_letters":                                                      proves("proc.deadletter"),
	"A_handler_receives_and_peeks_more":                                                proves("proc.more"),
	"A_processor_of_a_missing_queue_begins_once_it_is_there":                           proves("proc.missing"),
	"Certain_sessions_only":                                                            proves("proc.certain"),
	"A_handler_lets_its_session_go":                                                    proves("proc.release"),
	"An_idle_session_makes_room_for_the_next":                                          proves("proc.idle"),
	"A_stopped_processor_keeps_its_sessions_until_it_is_closed":                        proves("proc.held"),
}

var (
	passed    = regexp.MustCompile(`(?m)^passed (\w+)`)
	reference = regexp.MustCompile(`Include="Azure.Messaging.ServiceBus" Version="([^"]+)"`)
)

// noteFurther notes what the tests prove that passed, by what the suite printed.
func noteFurther(t *testing.T, out string) {
	t.Helper()
	project, err := os.ReadFile("dotnet-sdk.csproj")
	if err != nil {
		t.Fatal(err)
	}
	version := reference.FindSubmatch(project)
	if version == nil {
		t.Fatal("the project does not name the SDK")
	}
	noted := make(map[string]bool)
	for _, found := range passed.FindAllStringSubmatch(out, -1) {
		if name := found[1]; !noted[name] {
			noted[name] = true
			cases.Note(t, "dotnet", string(version[1]), "compat-tests/dotnet/cases_test.go", further[name]...)
		}
	}
	for name := range further {
		if !noted[name] && !strings.Contains(out, "failed "+name) {
			t.Errorf("the suite has no test %s", name)
		}
	}
}
