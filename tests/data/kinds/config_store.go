// Package configstore reads, checks and writes the settings of a fleet of devices.
package configstore

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"
)

// ErrUnknownDevice is returned for a device that was never registered.
var ErrUnknownDevice = errors.New("unknown device")

// Setting is one value of one device.
type Setting struct {
	Name    string    `json:"name"`
	Value   string    `json:"value"`
	Changed time.Time `json:"changed"`
}

// Store keeps the settings of each device in one file of a folder.
type Store struct {
	mutex   sync.RWMutex
	folder  string
	devices map[string][]Setting
}

// Open reads a folder of settings.
func Open(ctx context.Context, folder string) (*Store, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("list %q: %s", folder, err)
	}
	store := &Store{folder: folder, devices: make(map[string][]Setting)}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("open the store: %s", err)
		}
		if entry.IsDir() || filepath.Ext(entry.Name()) != ".json" {
			continue
		}
		device := strings.TrimSuffix(entry.Name(), ".json")
		settings, err := readSettings(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the settings of %q: %s", device, err)
		}
		store.devices[device] = settings
	}
	return store, nil
}

func readSettings(path string) ([]Setting, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var settings []Setting
	if err := json.NewDecoder(bufio.NewReader(file)).Decode(&settings); err != nil {
		return nil, fmt.Errorf("decode %q: %s", path, err)
	}
	for _, setting := range settings {
		if setting.Name == "" {
			return nil, fmt.Errorf("%q has a setting without a name", path)
		}
	}
	return settings, nil
}

// Devices lists the known devices in order.
func (s *Store) Devices() []string {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	names := make([]string, 0, len(s.devices))
	for name := range s.devices {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Get finds one setting of one device.
func (s *Store) Get(device, name string) (Setting, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	settings, ok := s.devices[device]
	if !ok {
		return Setting{}, fmt.Errorf("get %q: %w", name, ErrUnknownDevice)
	}
	for _, setting := range settings {
		if setting.Name == name {
			return setting, nil
		}
	}
	return Setting{}, fmt.Errorf("device %q has no setting %q", device, name)
}

// Set changes one setting and writes the device's file.
func (s *Store) Set(device, name, value string, now time.Time) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	settings := s.devices[device]
	found := false
	for index := range settings {
		if settings[index].Name == name {
			settings[index].Value, settings[index].Changed = value, now
			found = true
		}
	}
	if !found {
		settings = append(settings, Setting{Name: name, Value: value, Changed: now})
	}
	if err := s.write(device, settings); err != nil {
		return fmt.Errorf("set %q of %q: %s", name, device, err)
	}
	s.devices[device] = settings
	return nil
}

func (s *Store) write(device string, settings []Setting) error {
	path := filepath.Join(s.folder, device+".json")
	file, err := os.CreateTemp(s.folder, device+"-*.tmp")
	if err != nil {
		return fmt.Errorf("create a file beside %q: %s", path, err)
	}
	defer os.Remove(file.Name())
	encoder := json.NewEncoder(file)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(settings); err != nil {
		file.Close()
		return fmt.Errorf("encode the settings: %s", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("close %q: %s", file.Name(), err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return fmt.Errorf("replace %q: %s", path, err)
	}
	return nil
}

// Import takes in lines of the form "device name=value".
func (s *Store) Import(reader io.Reader, now time.Time) (int, error) {
	scanner := bufio.NewScanner(reader)
	count := 0
	for scanner.Scan() {
		line := strings.TrimSpace(scanner.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		device, rest, ok := strings.Cut(line, " ")
		if !ok {
			return count, fmt.Errorf("line %d has no device", count+1)
		}
		name, value, ok := strings.Cut(rest, "=")
		if !ok {
			return count, fmt.Errorf("line %d has no value", count+1)
		}
		if err := s.Set(device, name, value, now); err != nil {
			return count, fmt.Errorf("import line %d: %s", count+1, err)
		}
		count++
	}
	if err := scanner.Err(); err != nil {
		return count, fmt.Errorf("import: %s", err)
	}
	return count, nil
}
