module animal-store.example/receiver

go 1.24.0

require github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
