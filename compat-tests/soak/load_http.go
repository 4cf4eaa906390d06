package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"minibus/compat-tests/ledger"
)

// plainHTTP opens a connection for each request: on a reused one the library would repeat a request by itself.
var plainHTTP = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// reply is the answer to a request.
type reply struct {
	status   int
	location string
	content  []byte
}

// request makes a request whose answer must have one of these statuses.
func (w *worker) request(method, url string, content []byte, statuses ...int) (r reply, err error) {
	w.tally.requests.Add(1)
	err = w.try(func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(content))
		if err != nil {
			return err
		}
		response, err := plainHTTP.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		r.status, r.location = response.StatusCode, response.Header.Get("Location")
		if r.content, err = io.ReadAll(response.Body); err != nil {
			return err
		}
		if !slices.Contains(statuses, r.status) {
			return fmt.Errorf("%s %s: %s: %s", method, url, response.Status, r.content[:min(300, len(r.content))])
		}
		return nil
	})
	return r, err
}

func (w *worker) url(path string) string { return "http://" + w.proxyAddr() + "/" + path }

// post sends messages over HTTP.
func (w *worker) post() error {
	for n := 0; !w.over(); n++ {
		id := w.id()
		w.book.Sending("http/"+id, ledger.InQueue)
		if _, err := w.request(http.MethodPost, w.url("http/messages"), body(id, n%2000), http.StatusCreated); err != nil {
			return err
		}
		w.book.Sent("http/" + id)
		w.tally.sent.Add(1)
		time.Sleep(pause + 10*time.Millisecond)
	}
	return nil
}

// get receives over HTTP, deleting and under a lock in turn.
func (w *worker) get() error {
	for n := 0; !w.over(); n++ {
		var err error
		if n%2 == 0 {
			err = w.getAndDelete()
		} else {
			err = w.getAndComplete()
		}
		if err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

func (w *worker) getAndDelete() error {
	began := time.Now()
	r, err := w.request(http.MethodDelete, w.url("http/messages/head?timeout=1"), nil, http.StatusOK, http.StatusNoContent)
	if err != nil {
		if w.trouble.abruptSince(began) {
			w.book.BrokeOff("http", 1)
		}
		return err
	}
	if r.status == http.StatusOK {
		w.deleted(r.content, "http")
	}
	return nil
}

func (w *worker) getAndComplete() error {
	r, err := w.request(http.MethodPost, w.url("http/messages/head?timeout=1"), nil, http.StatusCreated, http.StatusNoContent)
	if err != nil || r.status == http.StatusNoContent {
		return err
	}
	id, err := idOf(r.content)
	if err != nil {
		w.find("http: %v", err)
	}
	w.book.Delivered("http/" + id)
	return w.settle("http/"+id, ledger.Nowhere, time.Now(), func(context.Context) error {
		_, err := w.request(http.MethodDelete, r.location, nil, http.StatusOK)
		return err
	})
}
